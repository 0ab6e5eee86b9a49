-- RUNNING → RETRY with a delay, or DEAD after the last try, only by the claim that still holds the tasks.
-- $1 uuid[] task ids · $2 bigint[] delays, ms · $3 text[] errors · $4 text name of the claim
-- Returns the new states.
UPDATE compensation_task AS t
   SET status = CASE WHEN t.retry_count + 1 >= t.max_retry THEN 40 ELSE 30 END, retry_count = t.retry_count + 1,
       next_run_at = statement_timestamp() + f.delay_ms * INTERVAL '1 millisecond', locked_by = NULL, locked_at = NULL,
       last_error = left(f.error, 4000), updated_at = statement_timestamp()
  FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS f (task_id, delay_ms, error)
 WHERE t.task_id = f.task_id AND t.status = 10 AND t.locked_by = $4
RETURNING t.task_id, t.status
