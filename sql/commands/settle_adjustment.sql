-- Notes how a repair ended. The first note stays.
-- $1 uuid id · $2 int status · $3 text outcome
UPDATE reconciliation_adjustment
   SET status = $2::int, outcome = $3::text, settled_at = statement_timestamp()
 WHERE adjustment_id = $1::uuid AND status = 0
