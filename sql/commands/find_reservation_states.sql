-- Durable states of reservations, for the scanner.
-- $1 uuid[] reservation ids
SELECT reservation_id, status, order_id, version FROM inventory_reservation WHERE reservation_id = ANY ($1::uuid[])
