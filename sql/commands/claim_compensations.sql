-- Claims a page of due tasks; several workers share the work by SKIP LOCKED. ANY (ARRAY …): see claim_tokens.
-- $1 int page · $2 text name of this claim
WITH candidates AS MATERIALIZED (
  SELECT task_id FROM compensation_task
   WHERE status IN (0, 30) AND next_run_at <= statement_timestamp()
   ORDER BY next_run_at, created_at, task_id
   LIMIT $1::int
     FOR UPDATE SKIP LOCKED
)
UPDATE compensation_task AS t
   SET status = 10, locked_by = $2::text, locked_at = statement_timestamp(), updated_at = statement_timestamp()
  FROM candidates AS c
 WHERE t.task_id = c.task_id AND t.task_id = ANY (ARRAY (SELECT task_id FROM candidates)) AND t.status IN (0, 30)
RETURNING t.task_id, t.task_type, t.reservation_id, t.order_id, t.payload, t.retry_count, t.max_retry
