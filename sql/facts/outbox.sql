-- Every event in the live table (OutboxRow).
SELECT event_id::text AS "eventId", dedup_key AS "dedupKey", aggregate_id AS "aggregateId", aggregate_version::text AS "aggregateVersion",
       tag AS "type", topic AS "topic", status::int AS "status", retry_count AS "retryCount",
       (extract(epoch FROM available_at) * 1000000)::int8::text AS "availableAtUs", false AS "archived"
  FROM event_outbox ORDER BY aggregate_id, aggregate_version
