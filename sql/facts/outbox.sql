-- Every event, in the live table or in the archive (OutboxRow).
SELECT event_id::text AS "eventId", dedup_key AS "dedupKey", aggregate_id AS "aggregateId", aggregate_version::text AS "aggregateVersion",
       tag AS "type", topic AS "topic", status::int AS "status", retry_count AS "retryCount",
       (extract(epoch FROM available_at) * 1000000)::int8::text AS "availableAtUs", archived AS "archived"
  FROM (SELECT event_id, dedup_key, aggregate_id, aggregate_version, tag, topic, status, retry_count, available_at, false AS archived FROM event_outbox
        UNION ALL
        SELECT event_id, dedup_key, aggregate_id, aggregate_version, tag, topic, status, retry_count, available_at, true FROM event_outbox_archive) AS o
 ORDER BY aggregate_id, o.aggregate_version
