/**
 * One PostgreSQL transaction whose end is always one of three: committed, not committed, unknown (paper 001 §7.5, LIBRARIES §3.1).
 */
import type { Pool, PoolClient, QueryResultRow } from 'pg';

import { asParameter } from './array-literal.js';
import { UNWATCHED, watchTransaction, type TransactionFields, type TransactionWatch } from './pool-metrics.js';
import { isBug, provesNotCommitted, sqlStateOf, UnitsLocked } from './postgres-failure.js';
import type { CommandName, Statements } from './sql-loader.js';

export interface RowsOf<Row> {
  readonly rows: Row[];
  /** Rows touched by the statement. */
  readonly count: number;
}

/** What the stages of a transaction are given. */
export interface Transaction {
  /** Runs one statement of `sql/commands`, kept prepared under its name. */
  run<Row extends QueryResultRow>(command: CommandName, values: readonly unknown[]): Promise<RowsOf<Row>>;
  /** For the transaction's line in the log: the ids that it is about (of a batch, those of its first), and what it came to. */
  note(fields: TransactionFields): void;
}

export type TransactionEnd<Value> =
  | { readonly end: 'committed'; readonly value: Value }
  /** Surely nothing was written. */
  | { readonly end: 'not-committed'; readonly error: unknown }
  /** COMMIT was sent and its answer proves nothing. */
  | { readonly end: 'unknown'; readonly error: unknown };

/** For the log: the how manieth try of the whole transaction this is, from 1. */
export function triesOf(attempt: number): TransactionFields {
  return { transactionAttempt: attempt, retryCount: attempt - 1 };
}

/**
 * Begins, runs `body`, commits. Rejects only for a programmer's error. A client that saw any error of the database or the connection is
 * destroyed and never goes back to the pool: after a client-side timeout it is out of step with the server. `about`: noted before the connection is there.
 */
export async function inTransaction<Value>(
  pool: Pool,
  statements: Statements,
  body: (transaction: Transaction) => Promise<Value>,
  about: TransactionFields = {},
): Promise<TransactionEnd<Value>> {
  const watch = watchTransaction(pool);
  watch.note(about);
  try {
    const end = await begun(pool, statements, body, watch);
    watch.ended(end.end, end.end === 'committed' ? null : end.error);
    return end;
  } catch (error) {
    watch.ended('not-committed', error);
    throw error;
  }
}

/** Begins, runs `body`, rolls back: for nothing but what is learnt by it. Counted and logged nowhere. Rejects with what went wrong. */
export async function inRehearsal(pool: Pool, statements: Statements, body: (transaction: Transaction) => Promise<unknown>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await body(transactionOn(client, statements, UNWATCHED));
    await client.query('ROLLBACK');
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
}

async function begun<Value>(
  pool: Pool,
  statements: Statements,
  body: (transaction: Transaction) => Promise<Value>,
  watch: TransactionWatch,
): Promise<TransactionEnd<Value>> {
  let client: PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    return { end: 'not-committed', error };
  }
  watch.acquired();
  let value: Value;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    value = await body(transactionOn(client, statements, watch));
  } catch (error) {
    await abandon(client, error);
    if (isBug(error)) throw error;
    return { end: 'not-committed', error };
  }
  return commit(client, value);
}

function transactionOn(client: PoolClient, statements: Statements, watch: TransactionWatch): Transaction {
  return {
    note: (fields) => { watch.note(fields); },
    async run<Row extends QueryResultRow>(command: CommandName, values: readonly unknown[]): Promise<RowsOf<Row>> {
      const startedAtMs = performance.now();
      const result = await client.query<Row>({ ...statements[command], values: values.map(asParameter) });
      watch.ran(command, performance.now() - startedAtMs, result.rowCount ?? 0);
      return { rows: result.rows, count: result.rowCount ?? 0 };
    },
  };
}

async function commit<Value>(client: PoolClient, value: Value): Promise<TransactionEnd<Value>> {
  try {
    const answer = await client.query('COMMIT');
    // COMMIT of a transaction that had failed before resolves, with ROLLBACK as its command.
    if (answer.command !== 'COMMIT') {
      client.release(true);
      return { end: 'not-committed', error: new Error(`COMMIT was answered ${answer.command}`) };
    }
  } catch (error) {
    client.release(true);
    return { end: provesNotCommitted(error) ? 'not-committed' : 'unknown', error };
  }
  client.release();
  return { end: 'committed', value };
}

/** Rolls back where the session still listens, so that its locks are gone before a next try; closing the connection alone is not awaited. */
async function abandon(client: PoolClient, error: unknown): Promise<void> {
  const ownDecision = error instanceof UnitsLocked;
  let rolledBack = false;
  if (ownDecision || sqlStateOf(error) !== null) {
    try {
      await client.query('ROLLBACK');
      rolledBack = true;
    } catch {
      // The session is gone, and its transaction with it.
    }
  }
  client.release(!(ownDecision && rolledBack));
}
