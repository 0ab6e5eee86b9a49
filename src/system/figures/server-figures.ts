/** PostgreSQL's own statistics as gauges (paper `001` §12.2). Counters of the server are shown as they stand: it resets them, not this role. */
import type { GaugeRecorder, RoleMetrics } from '../role-metrics.js';

/** A row of `read_server_figures.sql`; null where this server or this user cannot say. */
export type ServerFigures = Readonly<Record<ServerFigure, number | null>>;

type ServerFigure =
  | 'commits' | 'rollbacks' | 'deadlocks' | 'wal_bytes' | 'archive_failures' | 'checkpoints_timed' | 'checkpoints_requested' | 'checkpoint_seconds' | 'lock_waiters'
  | 'longest_wait_seconds' | 'sessions_active' | 'sessions_idle_in_transaction' | 'oldest_transaction_seconds' | 'replicas' | 'sync_replicas' | 'replication_lag_bytes'
  | 'replication_write_seconds' | 'replication_flush_seconds' | 'replication_replay_seconds';

/** A row of `read_table_figures.sql`. */
export interface TableFigures {
  readonly name: string;
  readonly live: number;
  readonly dead: number;
  readonly updates: number;
  readonly hot_updates: number;
  readonly bytes: number;
  readonly vacuum_age_seconds: number | null;
}

/** The tables that a storm writes; a closed list, since their names are label values. */
export const WATCHED_TABLES = [
  'sku_inventory', 'inventory_token', 'inventory_reservation', 'orders', 'order_items', 'inventory_ledger', 'consumer_inbox', 'event_outbox', 'compensation_task', 'payment_record',
] as const;

/** Binds the gauges; the returned function shows one sample. */
export function serverGauges(metrics: RoleMetrics): (figures: ServerFigures) => void {
  const lag = (stage: string): GaugeRecorder => metrics.gauge('replication_lag_seconds', 'Seconds that the slowest streaming replica is behind, by stage', { stage });
  const sessions = (state: string): GaugeRecorder => metrics.gauge('database_sessions', 'Sessions of this database by state', { state });
  const checkpoints = (cause: string): GaugeRecorder => metrics.gauge('database_checkpoints', 'Checkpoints of the server since its statistics began, by cause', { cause });
  const gauges: Readonly<Record<ServerFigure, GaugeRecorder>> = {
    commits: metrics.gauge('database_commits', 'Transactions committed in this database since its statistics began'),
    rollbacks: metrics.gauge('database_rollbacks', 'Transactions rolled back in this database since its statistics began'),
    deadlocks: metrics.gauge('database_deadlocks', 'Deadlocks in this database since its statistics began'),
    wal_bytes: metrics.gauge('wal_bytes', 'WAL written by the server since its statistics began, bytes'),
    archive_failures: metrics.gauge('database_archive_failures', 'WAL files that could not be archived since the statistics began'),
    checkpoints_timed: checkpoints('timed'),
    checkpoints_requested: checkpoints('requested'),
    checkpoint_seconds: metrics.gauge('database_checkpoint_seconds', 'Seconds spent writing and syncing checkpoints since the statistics began'),
    lock_waiters: metrics.gauge('database_lock_waiters', 'Lock requests not granted at the moment of the sample'),
    longest_wait_seconds: metrics.gauge('lock_wait_duration', 'Seconds that the longest lock request not granted has waited at the moment of the sample'),
    sessions_active: sessions('active'),
    sessions_idle_in_transaction: sessions('idle_in_transaction'),
    oldest_transaction_seconds: metrics.gauge('database_oldest_transaction_age', 'Seconds since the oldest open transaction of this database began'),
    replicas: metrics.gauge('database_replicas', 'Replicas that stream'),
    sync_replicas: metrics.gauge('database_sync_replicas', 'Replicas that stream and are waited for'),
    replication_lag_bytes: metrics.gauge('replication_lag', 'Bytes of WAL that the slowest streaming replica has not replayed; 0 without a replica'),
    replication_write_seconds: lag('write'),
    replication_flush_seconds: lag('flush'),
    replication_replay_seconds: lag('replay'),
  };
  return (figures) => {
    for (const [name, gauge] of Object.entries(gauges)) {
      const value = figures[name as ServerFigure];
      if (value !== null) gauge.set(value);
    }
  };
}

/** Binds the gauges of `WATCHED_TABLES`; the returned function shows one sample. */
export function tableGauges(metrics: RoleMetrics): (tables: readonly TableFigures[]) => void {
  const gauges = new Map(
    WATCHED_TABLES.map((table) => [
      table as string,
      {
        live: metrics.gauge('database_table_rows', 'Live rows, as the statistics estimate them', { table }),
        dead: metrics.gauge('database_table_dead_tuples', 'Dead tuples that vacuum has still to remove, estimated', { table }),
        hot: metrics.gauge('database_table_hot_update_share', 'Share of the updates that stayed heap-only; 1 without updates', { table }),
        bytes: metrics.gauge('database_table_bytes', 'Size with indexes and TOAST', { table }),
        age: metrics.gauge('database_table_vacuum_age', 'Seconds since the last vacuum; -1: never', { table }),
      },
    ]),
  );
  const inbox = metrics.gauge('inbox_size', 'Rows of the Inbox, as the statistics estimate them');
  return (tables) => {
    for (const { name, live, dead, updates, hot_updates: hotUpdates, bytes, vacuum_age_seconds: age } of tables) {
      const table = gauges.get(name);
      table?.live.set(live);
      table?.dead.set(dead);
      table?.hot.set(updates === 0 ? 1 : hotUpdates / updates);
      table?.bytes.set(bytes);
      table?.age.set(age ?? -1);
      if (name === 'consumer_inbox') inbox.set(live);
    }
  };
}
