-- Reservations that wait for a human, longest first.
-- $1 int at most so many
SELECT reservation_id::text, request_id, user_id::text, sku_id::text, failure_code, updated_at
  FROM inventory_reservation WHERE status = 60 ORDER BY updated_at, reservation_id LIMIT $1::int
