-- PENDING_DB → REJECTED, with the reason.
-- $1 uuid[] reservation ids · $2 text[] failure codes
-- Returns the new versions; the row count must equal the number of reservations.
UPDATE inventory_reservation AS r
   SET status = 20, failure_code = u.failure_code, version = r.version + 1, updated_at = statement_timestamp()
  FROM unnest($1::uuid[], $2::text[]) AS u (reservation_id, failure_code)
 WHERE r.reservation_id = u.reservation_id AND r.status = 0
RETURNING r.reservation_id, r.version
