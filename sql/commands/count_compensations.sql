-- The worker's gauges.
SELECT count(*) FILTER (WHERE status IN (0, 10, 30))::int AS open, count(*) FILTER (WHERE status = 40)::int AS dead
  FROM compensation_task WHERE status IN (0, 10, 30, 40)
