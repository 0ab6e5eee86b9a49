-- Locks existing reservations (paper 001 §9.2): other messages of the same reservation wait here, nobody else does.
-- $1 uuid[] reservation ids
SELECT reservation_id, status, order_id, expires_at <= statement_timestamp() AS expired
  FROM inventory_reservation
 WHERE reservation_id = ANY ($1::uuid[])
 ORDER BY reservation_id
   FOR UPDATE
