-- Moves one page of events that were sent long ago into the archive. `created_at` too, because its BRIN index finds the old pages.
-- $1 bigint sent longer ago than, ms · $2 int page size
WITH gone AS (
  DELETE FROM event_outbox
   WHERE ctid = ANY (ARRAY (SELECT ctid FROM event_outbox
                             WHERE status = 20 AND created_at < statement_timestamp() - $1::bigint * interval '1 millisecond'
                               AND sent_at < statement_timestamp() - $1::bigint * interval '1 millisecond'
                             LIMIT $2::int FOR UPDATE SKIP LOCKED))
  RETURNING event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload, headers,
            status, available_at, retry_count, max_retry, sent_at, last_error, created_at, updated_at
)
INSERT INTO event_outbox_archive (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version,
                                  payload, headers, status, available_at, retry_count, max_retry, sent_at, last_error, created_at, updated_at)
SELECT * FROM gone
