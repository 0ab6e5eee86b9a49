-- Open payments that the channel has to be asked about; a claim puts the next question off, longer each time, and the last one is the last.
-- $1 int page · $2 bigint first wait, ms · $3 bigint longest wait, ms · $4 int most questions
WITH due AS MATERIALIZED (
  SELECT payment_id FROM payment_record
   WHERE status IN (0, 10) AND next_query_at <= statement_timestamp()
   ORDER BY next_query_at, payment_id
   LIMIT $1::int
     FOR UPDATE SKIP LOCKED
)
UPDATE payment_record AS p
   SET query_count = p.query_count + 1, updated_at = statement_timestamp(),
       next_query_at = CASE WHEN p.query_count + 1 >= $4::int THEN NULL
                            ELSE statement_timestamp() + least($2::bigint * 2 ^ p.query_count, $3::bigint) * INTERVAL '1 millisecond' END
  FROM due
 WHERE p.payment_id = due.payment_id AND p.payment_id = ANY (ARRAY (SELECT payment_id FROM due)) AND p.status IN (0, 10)
RETURNING p.payment_id, p.order_id, p.provider, p.query_count, p.next_query_at IS NULL AS is_last
