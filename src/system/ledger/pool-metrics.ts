/** What a pool and its transactions cost (papers `000` §12.4 and `001` §12): connections, waits, statements, ends. */
import type { Pool } from 'pg';

import type { CounterRecorder, HistogramRecorder, RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import { errorClassOf, sqlStateOf } from './postgres-failure.js';
import type { CommandName } from './sql-loader.js';

export type TransactionFields = NonNullable<Parameters<RoleSurroundings['log']>[2]>;

/** Told by `inTransaction` what happens; one per transaction. */
export interface TransactionWatch {
  acquired(): void;
  ran(command: CommandName, durationMs: number, rows: number): void;
  /** Of what the transaction is, for its line in the log: ids, result code, number of the try. */
  note(fields: TransactionFields): void;
  ended(end: 'committed' | 'not-committed' | 'unknown', error: unknown): void;
}

/** Sees nothing. */
export const UNWATCHED: TransactionWatch = { acquired: () => undefined, ran: () => undefined, note: () => undefined, ended: () => undefined };

/** Statements that take a unit, whichever the allocator: the hot spot of the whole design. */
const UNIT_CLAIMS: ReadonlySet<CommandName> = new Set(['claim_tokens', 'allocate_row_stock']);
/** SQLSTATEs of transactions that met another one: serialization, deadlock, lock timeout. */
const CONFLICTS: readonly string[] = ['40001', '40P01', '55P03'];

const watchers = new WeakMap<Pool, () => TransactionWatch>();

interface PoolRecorders {
  readonly acquire: HistogramRecorder;
  readonly timeouts: CounterRecorder;
  readonly ends: Readonly<Record<'committed' | 'not-committed' | 'unknown', CounterRecorder>>;
  readonly rollbacks: CounterRecorder;
  readonly claim: HistogramRecorder;
  conflict(sqlState: string): void;
  statement(command: CommandName): { readonly duration: HistogramRecorder; readonly rows: CounterRecorder };
}

function recordersOf(metrics: RoleMetrics): PoolRecorders {
  const ended = (end: string): CounterRecorder => metrics.counter('database_transactions_total', 'Transactions of this role by their end', { end });
  const conflicts = (sqlstate: string): CounterRecorder => metrics.counter('database_conflict_total', 'Transactions ended by another one, by SQLSTATE: serialization, deadlock, lock timeout', { sqlstate });
  for (const sqlState of CONFLICTS) conflicts(sqlState);
  const statements = new Map<CommandName, { readonly duration: HistogramRecorder; readonly rows: CounterRecorder }>();
  return {
    acquire: metrics.histogram('database_pool_acquire_duration', 'Seconds that a transaction waited for its connection'),
    timeouts: metrics.counter('database_pool_timeout_total', 'Transactions that got no connection in time'),
    ends: { committed: ended('committed'), 'not-committed': ended('not-committed'), unknown: ended('unknown') },
    rollbacks: metrics.counter('transaction_rollback_total', 'Transactions of this role that surely wrote nothing'),
    claim: metrics.histogram('inventory_token_claim_duration', 'Seconds of one statement that takes units, by token or by row'),
    conflict(sqlState) {
      conflicts(sqlState).add();
    },
    statement(command) {
      let recorders = statements.get(command);
      if (recorders === undefined) {
        recorders = {
          duration: metrics.histogram('database_statement_duration', 'Seconds of one statement inside a transaction', { statement: command }),
          rows: metrics.counter('database_statement_rows_total', 'Rows touched by a statement', { statement: command }),
        };
        statements.set(command, recorders);
      }
      return recorders;
    },
  };
}

function watchOf(recorders: PoolRecorders, log: RoleSurroundings['log']): TransactionWatch {
  const startedAtMs = performance.now();
  let acquiredAtMs: number | null = null;
  let affectedRows = 0;
  const noted: Record<string, TransactionFields[string]> = {};
  return {
    acquired() {
      acquiredAtMs = performance.now();
      recorders.acquire.observe((acquiredAtMs - startedAtMs) / 1_000);
    },
    ran(command, durationMs, rows) {
      affectedRows += rows;
      const statement = recorders.statement(command);
      statement.duration.observe(durationMs / 1_000);
      statement.rows.add(rows);
      if (UNIT_CLAIMS.has(command)) recorders.claim.observe(durationMs / 1_000);
    },
    note(fields) {
      Object.assign(noted, fields);
    },
    ended(end, error) {
      const sqlState = sqlStateOf(error);
      recorders.ends[end].add();
      if (acquiredAtMs === null) recorders.timeouts.add();
      else if (end === 'not-committed') recorders.rollbacks.add();
      if (sqlState !== null && CONFLICTS.includes(sqlState)) recorders.conflict(sqlState);
      log('debug', 'transaction', {
        ...noted,
        ...(error === null ? {} : { errorClass: errorClassOf(error) }),
        commitResult: end, sqlState, affectedRows,
        poolAcquireMs: Math.round((acquiredAtMs ?? performance.now()) - startedAtMs),
        databaseMs: acquiredAtMs === null ? 0 : Math.round(performance.now() - acquiredAtMs),
      });
    },
  };
}

/** Shows the pool's connections and has its transactions watched. `name`: a closed word such as `main` or `reader`. */
export function measurePool(pool: Pool, name: string, metrics: RoleMetrics, log: RoleSurroundings['log']): void {
  const labels = { pool: name };
  const acquired = metrics.gauge('database_pool_acquired', 'Connections in use', labels);
  const idle = metrics.gauge('database_pool_idle', 'Connections open and free', labels);
  const total = metrics.gauge('database_pool_total', 'Connections open', labels);
  const waiting = metrics.gauge('database_pool_waiting', 'Callers that wait for a connection', labels);
  metrics.beforeText(() => {
    acquired.set(pool.totalCount - pool.idleCount);
    idle.set(pool.idleCount);
    total.set(pool.totalCount);
    waiting.set(pool.waitingCount);
  });
  const recorders = recordersOf(metrics);
  watchers.set(pool, () => watchOf(recorders, log));
}

/** For the transaction that is about to begin; sees nothing where the pool is not measured. */
export function watchTransaction(pool: Pool): TransactionWatch {
  return watchers.get(pool)?.() ?? UNWATCHED;
}
