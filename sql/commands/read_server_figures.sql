-- PostgreSQL's own statistics of this database and its server (paper 001 §12.2): transactions, locks, WAL, archiver, checkpoints, replicas.
SELECT d.xact_commit::float8 AS commits, d.xact_rollback::float8 AS rollbacks, d.deadlocks::float8 AS deadlocks,
       (SELECT wal_bytes FROM pg_stat_wal)::float8 AS wal_bytes,
       (SELECT failed_count FROM pg_stat_archiver)::float8 AS archive_failures,
       (SELECT num_timed FROM pg_stat_checkpointer)::float8 AS checkpoints_timed,
       (SELECT num_requested FROM pg_stat_checkpointer)::float8 AS checkpoints_requested,
       (SELECT (write_time + sync_time) / 1000 FROM pg_stat_checkpointer)::float8 AS checkpoint_seconds,
       l.waiters::float8 AS lock_waiters, l.longest_wait_seconds::float8,
       a.active::float8 AS sessions_active, a.idle_in_transaction::float8 AS sessions_idle_in_transaction, a.oldest_transaction_seconds::float8,
       r.replicas::float8, r.sync_replicas::float8, r.replay_bytes::float8 AS replication_lag_bytes,
       r.write_seconds::float8 AS replication_write_seconds, r.flush_seconds::float8 AS replication_flush_seconds, r.replay_seconds::float8 AS replication_replay_seconds
  FROM pg_stat_database AS d,
       LATERAL (SELECT count(*) AS waiters, coalesce(extract(epoch FROM clock_timestamp() - min(waitstart)), 0) AS longest_wait_seconds
                  FROM pg_locks WHERE NOT granted) AS l,
       LATERAL (SELECT count(*) FILTER (WHERE state = 'active') AS active, count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,
                       coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)), 0) AS oldest_transaction_seconds
                  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()) AS a,
       LATERAL (SELECT count(*) AS replicas, count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS sync_replicas,
                       coalesce(max(pg_wal_lsn_diff(sent_lsn, replay_lsn)), 0) AS replay_bytes,
                       coalesce(extract(epoch FROM max(write_lag)), 0) AS write_seconds, coalesce(extract(epoch FROM max(flush_lag)), 0) AS flush_seconds,
                       coalesce(extract(epoch FROM max(replay_lag)), 0) AS replay_seconds
                  FROM pg_stat_replication WHERE application_name <> 'pg_basebackup' AND state = 'streaming' AND replay_lsn IS NOT NULL) AS r
 WHERE d.datname = current_database()
