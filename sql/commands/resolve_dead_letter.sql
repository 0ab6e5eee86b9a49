-- Takes a dead letter out of OPEN, once.
-- $1 text dead letter id · $2 int status · $3 text resolution
UPDATE dead_letter
   SET status = $2::int, resolution = $3::text, version = version + 1, updated_at = statement_timestamp()
 WHERE dead_letter_id = $1::text AND status = 0
RETURNING dead_letter_id
