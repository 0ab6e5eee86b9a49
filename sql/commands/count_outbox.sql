-- The relay's gauges: what is unsent, how old the oldest is, what is DEAD. Served by the partial indexes of unsent events. A timer counts from
-- the moment at which it is due: before that it has nothing to do.
SELECT count(*) FILTER (WHERE status IN (0, 10, 30))::int AS unsent,
       count(*) FILTER (WHERE status = 40)::int AS dead,
       coalesce(extract(epoch FROM statement_timestamp() - min(greatest(created_at, CASE status WHEN 0 THEN available_at ELSE created_at END)) FILTER (WHERE status <> 40)) * 1000, 0)::float8 AS oldest_ms
  FROM event_outbox
 WHERE status IN (10, 30, 40) OR (status = 0 AND available_at <= statement_timestamp())
