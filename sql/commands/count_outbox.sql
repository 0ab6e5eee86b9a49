-- The relay's gauges: what is unsent, how old the oldest is, what is DEAD. Served by the partial index of unsent events.
SELECT count(*) FILTER (WHERE status IN (0, 10, 30))::int AS unsent,
       count(*) FILTER (WHERE status = 40)::int AS dead,
       coalesce(extract(epoch FROM statement_timestamp() - min(created_at) FILTER (WHERE status <> 40)) * 1000, 0)::float8 AS oldest_ms
  FROM event_outbox
 WHERE status <> 20
