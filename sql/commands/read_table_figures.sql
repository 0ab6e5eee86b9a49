-- Vacuum and heap-only updates of the hot tables (paper 001 §10.6, §12.2). Estimates of the statistics collector: free to read.
-- $1 text[] table names
SELECT s.relname AS name, s.n_live_tup::float8 AS live, s.n_dead_tup::float8 AS dead, s.n_tup_upd::float8 AS updates, s.n_tup_hot_upd::float8 AS hot_updates,
       pg_total_relation_size(s.relid)::float8 AS bytes,
       extract(epoch FROM clock_timestamp() - greatest(s.last_autovacuum, s.last_vacuum))::float8 AS vacuum_age_seconds
  FROM pg_stat_user_tables AS s
 WHERE s.schemaname = 'public' AND s.relname = ANY ($1::text[])
