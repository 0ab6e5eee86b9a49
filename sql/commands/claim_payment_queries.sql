-- Open payments that the channel has to be asked about; a claim puts the next question off, longer each time up to the longest wait, and never ends the asking: whoever
-- claimed may die before he asks, and what the channel answers may not be written down. end_payment_queries.sql ends it.
-- $1 int page · $2 bigint first wait, ms · $3 bigint longest wait, ms
WITH due AS MATERIALIZED (
  SELECT payment_id FROM payment_record
   WHERE status IN (0, 10) AND next_query_at <= statement_timestamp()
   ORDER BY next_query_at, payment_id
   LIMIT $1::int
     FOR UPDATE SKIP LOCKED
)
UPDATE payment_record AS p
   SET query_count = p.query_count + 1, updated_at = statement_timestamp(),
       -- Beyond 2^20 first waits the longest one is reached long since.
       next_query_at = statement_timestamp() + least($2::bigint * 2 ^ least(p.query_count, 20), $3::bigint) * INTERVAL '1 millisecond'
  FROM due
 WHERE p.payment_id = due.payment_id AND p.payment_id = ANY (ARRAY (SELECT payment_id FROM due)) AND p.status IN (0, 10)
RETURNING p.payment_id, p.order_id, p.provider, p.query_count
