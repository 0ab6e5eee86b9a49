/** The Outbox table as a relay sees it: claim a page, send outside of any transaction, mark (paper 001 §9.8). */
import type { RoleConfig } from '../../domain/role-config.js';
import { OutboxStatus } from '../../domain/status-codes.js';
import { answers, createPool } from '../ledger/pool.js';
import { loadStatements, type Statements } from '../ledger/sql-loader.js';
import type { RoleSurroundings } from '../role.js';

export interface ClaimedEvent {
  readonly eventId: string;
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  /** JSON of an `OrderEvent`. */
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly retryCount: number;
  readonly maxRetry: number;
}

export interface FailedEvent {
  readonly eventId: string;
  readonly delayMs: number;
  readonly error: string;
}

export interface OutboxFigures {
  readonly unsent: number;
  readonly dead: number;
  readonly oldestMs: number;
}

/** Every call rejects when PostgreSQL does not answer in time; nothing is lost by that, the lease ends by itself. */
export interface OutboxStore {
  /** Returns how many events came back from claims that ran out. */
  recoverLeases(leaseMs: number): Promise<number>;
  /** Due events, oldest first by claim; at most one event per aggregate. `claim` is a name that was never used before. */
  claim(limit: number, claim: string): Promise<readonly ClaimedEvent[]>;
  /** Returns how many were still held by the claim. */
  markSent(eventIds: readonly string[], claim: string): Promise<number>;
  /** Returns how many were still held by the claim, and which are DEAD now. */
  markFailed(events: readonly FailedEvent[], claim: string): Promise<{ readonly marked: number; readonly dead: readonly string[] }>;
  figures(): Promise<OutboxFigures>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

interface ClaimRow {
  readonly event_id: string;
  readonly topic: string;
  readonly tag: string | null;
  readonly message_key: string;
  readonly payload: string;
  readonly headers: Record<string, string>;
  readonly retry_count: number;
  readonly max_retry: number;
}

export function createOutboxStore(config: RoleConfig, surroundings: RoleSurroundings, statements: Statements = loadStatements()): OutboxStore {
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: config.instance,
    max: Math.min(config.tuning.postgresPoolSize, 4),
  }, surroundings);
  return {
    async recoverLeases(leaseMs) {
      return (await pool.query({ ...statements.recover_outbox_leases, values: [leaseMs] })).rowCount ?? 0;
    },
    async claim(limit, claim) {
      return (await pool.query<ClaimRow>({ ...statements.claim_outbox, values: [limit, claim] })).rows.map(eventOf);
    },
    async markSent(eventIds, claim) {
      return (await pool.query({ ...statements.mark_outbox_sent, values: [[...eventIds], claim] })).rowCount ?? 0;
    },
    async markFailed(events, claim) {
      const { rows } = await pool.query<{ event_id: string; status: number }>({
        ...statements.mark_outbox_failed,
        values: [events.map((event) => event.eventId), events.map((event) => Math.round(event.delayMs)), events.map((event) => event.error), claim],
      });
      return { marked: rows.length, dead: rows.filter((row) => row.status === OutboxStatus.DEAD).map((row) => row.event_id) };
    },
    async figures() {
      const { rows } = await pool.query<{ unsent: number; dead: number; oldest_ms: number }>(statements.count_outbox);
      return { unsent: rows[0]?.unsent ?? 0, dead: rows[0]?.dead ?? 0, oldestMs: rows[0]?.oldest_ms ?? 0 };
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}

function eventOf(row: ClaimRow): ClaimedEvent {
  return {
    eventId: row.event_id,
    topic: row.topic,
    type: row.tag ?? '',
    key: row.message_key,
    value: row.payload,
    headers: row.headers,
    retryCount: row.retry_count,
    maxRetry: row.max_retry,
  };
}
