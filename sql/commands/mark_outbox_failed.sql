-- SENDING → RETRY with a delay, or DEAD after the last try, only by the claim that still holds the events.
-- $1 uuid[] event ids · $2 bigint[] delays, ms · $3 text[] errors · $4 text name of the claim
-- Returns the new states.
UPDATE event_outbox AS o
   SET status = CASE WHEN o.retry_count + 1 >= o.max_retry THEN 40 ELSE 30 END,
       retry_count = o.retry_count + 1,
       available_at = statement_timestamp() + f.delay_ms * INTERVAL '1 millisecond',
       locked_by = NULL, locked_at = NULL, last_error = left(f.error, 4000), updated_at = statement_timestamp()
  FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS f (event_id, delay_ms, error)
 WHERE o.event_id = f.event_id AND o.status = 10 AND o.locked_by = $4
RETURNING o.event_id, o.status
