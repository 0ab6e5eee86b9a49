-- Reservations that wait for a human, and for how long the oldest has.
SELECT count(*)::int AS waiting, coalesce(extract(epoch FROM statement_timestamp() - min(updated_at)), 0)::float8 AS oldest_seconds
  FROM inventory_reservation WHERE status = 60
