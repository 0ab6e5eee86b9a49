/** The table of compensation tasks as a worker sees it (paper 001 §8.2): claim a page, do the work outside of any transaction, mark. */
import type { OrderId, RequestId, ReservationId, SkuKey, UserId } from '../../domain/ids.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { CompensationStatus } from '../../domain/status-codes.js';
import { answers, createPool } from '../ledger/pool.js';
import { loadStatements, type Statements } from '../ledger/sql-loader.js';
import type { RoleSurroundings } from '../role.js';

export interface CompensationTask {
  readonly taskId: string;
  /** `CompensationType`. */
  readonly type: number;
  readonly reservationId: ReservationId | null;
  readonly orderId: OrderId | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly retryCount: number;
  readonly maxRetry: number;
}

/** How a task ended in this try. `cancelled`: there is nothing to do and never will be. */
export type TaskEnd =
  | { readonly end: 'done' | 'cancelled'; readonly note: string | null }
  | { readonly end: 'again'; readonly reason: string };

/** A reservation as PostgreSQL has it, with all that Redis needs to hear of it. */
export interface DurableEnd {
  readonly sku: SkuKey;
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly status: number;
  readonly orderId: OrderId | null;
  readonly version: number;
  readonly reason: string | null;
  readonly returnsUnit: boolean;
  readonly clearsUserMark: boolean;
}

/** Every call rejects when PostgreSQL does not answer in time; nothing is lost by that, the lease ends by itself. */
export interface CompensationStore {
  /** Returns how many tasks came back from workers that died. */
  recoverLeases(leaseMs: number): Promise<number>;
  /** Due tasks. `claim` is a name that was never used before. */
  claim(limit: number, claim: string): Promise<readonly CompensationTask[]>;
  /** Returns how many were still held by the claim. */
  finish(tasks: readonly { readonly taskId: string; readonly cancelled: boolean; readonly note: string | null }[], claim: string): Promise<number>;
  /** Returns which are DEAD now. */
  retry(tasks: readonly { readonly taskId: string; readonly delayMs: number; readonly error: string }[], claim: string): Promise<readonly string[]>;
  durableEnd(reservationId: ReservationId): Promise<DurableEnd | null>;
  figures(): Promise<{ readonly open: number; readonly dead: number }>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

interface TaskRow {
  readonly task_id: string;
  readonly task_type: number;
  readonly reservation_id: string | null;
  readonly order_id: string | null;
  readonly payload: Record<string, unknown>;
  readonly retry_count: number;
  readonly max_retry: number;
}

interface EndRow {
  readonly status: number;
  readonly order_id: string | null;
  readonly version: string;
  readonly request_id: string;
  readonly activity_id: string;
  readonly sku_id: string;
  readonly user_id: string;
  readonly reason: string | null;
  readonly returns_unit: boolean;
  readonly clears_user_mark: boolean;
}

export function createCompensationStore(config: RoleConfig, surroundings: RoleSurroundings, statements: Statements = loadStatements()): CompensationStore {
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: `${config.instance}-tasks`,
    max: Math.min(config.tuning.postgresPoolSize, 4),
  }, surroundings);
  let closing: Promise<void> | null = null;
  return {
    async recoverLeases(leaseMs) {
      return (await pool.query({ ...statements.recover_compensation_leases, values: [leaseMs] })).rowCount ?? 0;
    },
    async claim(limit, claim) {
      const { rows } = await pool.query<TaskRow>({ ...statements.claim_compensations, values: [limit, claim] });
      return rows.map((row) => ({
        taskId: row.task_id, type: row.task_type, reservationId: row.reservation_id, orderId: row.order_id, payload: row.payload,
        retryCount: row.retry_count, maxRetry: row.max_retry,
      }));
    },
    async finish(tasks, claim) {
      const values = [tasks.map((task) => task.taskId), tasks.map((task) => task.cancelled), tasks.map((task) => task.note), claim];
      return (await pool.query({ ...statements.finish_compensations, values })).rowCount ?? 0;
    },
    async retry(tasks, claim) {
      const values = [tasks.map((task) => task.taskId), tasks.map((task) => Math.round(task.delayMs)), tasks.map((task) => task.error), claim];
      const { rows } = await pool.query<{ task_id: string; status: number }>({ ...statements.retry_compensations, values });
      return rows.filter((row) => row.status === CompensationStatus.DEAD).map((row) => row.task_id);
    },
    async durableEnd(reservationId) {
      const row = (await pool.query<EndRow>({ ...statements.find_reservation_states, values: [[reservationId]] })).rows[0];
      return row === undefined ? null : endOf(row);
    },
    async figures() {
      const { rows } = await pool.query<{ open: number; dead: number }>(statements.count_compensations);
      return rows[0] ?? { open: 0, dead: 0 };
    },
    ready: () => answers(pool),
    close: () => (closing ??= pool.end()),
  };
}

function endOf(row: EndRow): DurableEnd {
  return {
    sku: { activityId: row.activity_id, skuId: row.sku_id }, requestId: row.request_id, userId: row.user_id, status: row.status, orderId: row.order_id,
    version: Number(row.version), reason: row.reason, returnsUnit: row.returns_unit, clearsUserMark: row.clears_user_mark,
  };
}
