-- Dead letters that nobody has worked off.
SELECT count(*)::int AS open, coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float8 AS oldest_seconds
  FROM dead_letter WHERE status = 0
