-- Hands a reservation over to a human: nobody can tell its end, its unit stays held.
-- $1 uuid reservation id · $2 text why
UPDATE inventory_reservation
   SET status = 60, failure_code = $2::text, version = version + 1, updated_at = statement_timestamp()
 WHERE reservation_id = $1::uuid AND status = 0
RETURNING version
