-- Tasks whose worker died become claimable again. Not counted as a try: nobody knows whether it was one.
-- $1 bigint lease, ms
UPDATE compensation_task
   SET status = 30, next_run_at = statement_timestamp(), locked_by = NULL, locked_at = NULL, last_error = 'LEASE_EXPIRED', updated_at = statement_timestamp()
 WHERE status = 10 AND locked_at < statement_timestamp() - $1::bigint * INTERVAL '1 millisecond'
