/** PostgreSQL of a run in the hands of a fault: what `DatabaseTarget` promises, by the lab's own sessions. */
import type pg from 'pg';

import type { Namespace } from '../domain/namespace.js';
import type { PostgresAddress } from '../domain/role-config.js';
import { OrderStatus, TokenStatus } from '../domain/status-codes.js';
import { LEDGER_TABLES, type DatabaseTarget, type HeldLocks, type HotRows, type LedgerTable, type LockWaiter } from '../facts/database-target.js';
import { LabError } from '../facts/lab-error.js';
import { directPostgres, withPostgres } from './store-clients.js';
import { refusesForWantOfConnections, SESSIONS_OF_ROLES, takeAllConnections } from './taken-connections.js';

/** A lab that locks must not wait for ever, must not be chosen as a deadlock's victim, and must not be thrown out while it does nothing. */
const LOCK_SETTINGS = "SET LOCAL lock_timeout = '5s'; SET LOCAL deadlock_timeout = '1h'; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0";

const ROWS: Readonly<Record<HotRows, { readonly text: string; readonly values: readonly unknown[] }>> = {
  inventory: { text: 'SELECT 1 FROM sku_inventory FOR UPDATE SKIP LOCKED', values: [] },
  tokens: { text: 'SELECT 1 FROM inventory_token WHERE status = $1 FOR UPDATE SKIP LOCKED', values: [TokenStatus.AVAILABLE] },
  orders: { text: 'SELECT 1 FROM orders WHERE status = ANY($1) FOR UPDATE SKIP LOCKED', values: [[OrderStatus.CREATED, OrderStatus.PAYING]] },
};

/** Sessions whose chain of blockers ends at process $1. */
const WAITERS = `
  WITH RECURSIVE waiting AS (
    SELECT pid, application_name, pg_blocking_pids(pid) AS blockers FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  ), behind (pid) AS (
    SELECT $1::integer UNION SELECT waiting.pid FROM waiting JOIN behind ON behind.pid = ANY (waiting.blockers)
  )
  SELECT waiting.application_name AS application, waiting.pid AS process_id,
         ARRAY(SELECT DISTINCT relation::regclass::text FROM pg_locks WHERE pg_locks.pid = waiting.pid AND locktype = 'relation' AND granted) AS holds
  FROM waiting JOIN behind USING (pid)`;

const TABLE_MODES = { writers: 'EXCLUSIVE', everybody: 'ACCESS EXCLUSIVE' } as const;

export function createDatabaseTarget(address: PostgresAddress, { database }: Pick<Namespace, 'database'>): DatabaseTarget {
  const asking = <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => withPostgres(address, database, work);
  const number = (text: string, values: readonly unknown[] = []): Promise<number> =>
    asking(async (client) => Number((await client.query<{ figure: string }>(text, [...values])).rows[0]?.figure ?? 0));

  /** Begins a transaction, locks in it, and keeps it. */
  async function holding(lock: (client: pg.Client) => Promise<number>): Promise<HeldLocks> {
    const [client, observer] = await Promise.all([directPostgres(address, database), directPostgres(address, database)]);
    try {
      await client.query(`BEGIN; ${LOCK_SETTINGS}`);
      const pid = Number((await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid);
      const count = await lock(client);
      return heldBy(client, observer, pid, count);
    } catch (cause) {
      await Promise.all([client, observer].map((each) => each.end().catch(() => undefined)));
      throw cause;
    }
  }

  return {
    lockRows: (rows) => holding(async (client) => (await client.query(ROWS[rows].text, [...ROWS[rows].values])).rowCount ?? 0),
    lockTable: (table, against) =>
      holding(async (client) => {
        try {
          await client.query(`LOCK TABLE ${table} IN ${TABLE_MODES[against]} MODE`);
          return 1;
        } catch (cause) {
          throw new LabError('SYSTEM_NOT_READY', `table ${table} could not be locked within 5 s`, 'look at pg_locks for who holds it', { cause });
        }
      }),
    setDeadlockTimeout: (ms) =>
      asking(async (client) => {
        await client.query(ms === null ? 'ALTER SYSTEM RESET deadlock_timeout' : `ALTER SYSTEM SET deadlock_timeout = '${String(ms)}ms'`);
        await client.query('SELECT pg_reload_conf()');
      }),
    deadlocks: () => number('SELECT deadlocks AS figure FROM pg_stat_database WHERE datname = current_database()'),
    orderCount: () => number('SELECT count(*) AS figure FROM orders'),
    async holdSnapshot() {
      const client = await directPostgres(address, database);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT count(*) FROM orders');
      return { release: once(() => client.end()) };
    },
    vacuum: () =>
      asking(async (client) => {
        const report = { removedRows: 0, unremovableRows: 0 };
        client.on('notice', ({ message = '' }) => {
          const figures = /tuples: (\d+) removed, \d+ remain, (\d+) are dead but not yet removable/.exec(message);
          report.removedRows += Number(figures?.[1] ?? 0);
          report.unremovableRows += Number(figures?.[2] ?? 0);
        });
        await client.query(`VACUUM (VERBOSE) ${[...LEDGER_TABLES, 'inventory_token', 'sku_inventory'].join(', ')}`);
        return report;
      }),
    takeConnections: () => takeAllConnections(address, database),
    refusesConnections: () => refusesForWantOfConnections(address),
    roleSessions: () => number(`SELECT count(*) AS figure FROM pg_stat_activity WHERE ${SESSIONS_OF_ROLES}`),
    setArchiving: (works) =>
      asking(async (client) => {
        await client.query(`ALTER SYSTEM SET archive_command = '${works ? 'true' : 'false'}'`);
        await client.query('SELECT pg_reload_conf()');
      }),
    switchSegment: () =>
      asking(async (client) => {
        // Nothing is switched where nothing was written since the last time.
        await client.query("SELECT pg_logical_emit_message(false, 'lab', 'a segment to archive'); ");
        await client.query('SELECT pg_switch_wal()');
      }),
    archiver: () =>
      asking(async (client) => {
        const { rows } = await client.query<{ archived: string; failed: string; waiting: string }>(
          "SELECT archived_count AS archived, failed_count AS failed, (SELECT count(*) FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') AS waiting FROM pg_stat_archiver");
        const [row] = rows;
        return { archived: Number(row?.archived ?? 0), failed: Number(row?.failed ?? 0), waiting: Number(row?.waiting ?? 0) };
      }),
  };
}

/** The observer is connected from the beginning: a circle has to be closed in less time than a new connection may take. */
function heldBy(client: pg.Client, observer: pg.Client, pid: number, count: number): HeldLocks {
  let isOver = false;
  return {
    count,
    async waiters(): Promise<readonly LockWaiter[]> {
      // With the session its locks are gone, and nobody waits for them.
      if (isOver) return [];
      const { rows } = await observer.query<{ application: string; process_id: number; holds: string[] }>(WAITERS, [pid]);
      return rows.map(({ application, process_id, holds }) => ({ application, processId: process_id, holds }));
    },
    async take(table: LedgerTable) {
      return client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`).then(() => true, () => false);
    },
    // The end of the session is the end of its locks, whatever state it is in.
    release: once(async () => {
      isOver = true;
      await Promise.all([client.end(), observer.end()]);
    }),
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => (done ??= work().catch(() => undefined));
}
