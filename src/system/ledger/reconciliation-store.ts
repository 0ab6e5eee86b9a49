/**
 * PostgreSQL as the reconciler sees it: the durable ledger in one snapshot, the lease, the known Redis, and the repairs written down before
 * they are made.
 */
import { randomUUID } from 'node:crypto';

import type { Pool, PoolClient } from 'pg';

import type { MessageId, SkuKey } from '../../domain/ids.js';
import { type AdjustmentStatus } from '../../domain/reconciliation.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { Difference, Repair } from '../recovery/reconciliation-look.js';
import type { DurableLedger } from '../recovery/reconciliation-ledgers.js';
import type { RoleSurroundings } from '../role.js';
import { answers, createPool } from './pool.js';
import { describeFailure } from './postgres-failure.js';
import { reservationOf, skuOf, type ReservationRow, type SkuRow } from './reconciliation-rows.js';
import { loadStatements, type CommandName, type Statements } from './sql-loader.js';

export interface KnownRedis {
  readonly epoch: number;
  readonly runId: string;
}

export interface PlannedAdjustment {
  readonly adjustmentId: string;
  readonly epoch: number;
  readonly kind: string;
  readonly subject: string;
  readonly repair: Repair;
}

/** No call rejects for an operating failure: null means that PostgreSQL did not answer. */
export interface ReconciliationStore {
  /** The token of the lease; 0: another holds it. */
  lease(ttlMs: number): Promise<number | null>;
  freeLease(): Promise<void>;
  /** `none`: no Redis is known yet. */
  knownRedis(sku: SkuKey): Promise<KnownRedis | 'none' | null>;
  /** False: the lease has gone, or a higher epoch is known. */
  saveKnownRedis(sku: SkuKey, known: KnownRedis, token: number, isRebuild: boolean): Promise<boolean | null>;
  /** `unknown-sku`: PostgreSQL does not sell it. */
  durable(sku: SkuKey): Promise<DurableLedger | 'unknown-sku' | null>;
  inboxed(messageIds: readonly MessageId[]): Promise<ReadonlySet<MessageId> | null>;
  /** Writes the repairs down; returns those that may be made now. Only what has a repair is planned. */
  plan(sku: SkuKey, epoch: number, token: number, differences: readonly Difference[]): Promise<readonly PlannedAdjustment[] | null>;
  openAdjustments(sku: SkuKey): Promise<readonly PlannedAdjustment[] | null>;
  settle(adjustmentId: string, status: AdjustmentStatus, outcome: string): Promise<boolean | null>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

/** A page whose joins end well inside of the statement timeout. */
const PAGE_SIZE = 2_000;
const LEASE_NAME = 'reconciler';
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

interface AdjustmentRow {
  readonly adjustment_id: string;
  readonly epoch: string;
  readonly kind: string;
  readonly subject: string;
  readonly repair: Repair;
}

/** Connects on first use. Each store is a holder of its own: a restarted process never continues the lease of the one before. */
export function createReconciliationStore(config: RoleConfig, surroundings: Pick<RoleSurroundings, 'log'>): ReconciliationStore {
  const statements = loadStatements();
  const holder = `${config.instance}:${randomUUID()}`;
  const { namespace, strategies } = config;
  const pool = createPool({ address: config.addresses.postgres, database: namespace.database, applicationName: config.instance, max: 2 }, surroundings);

  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      surroundings.log('warn', `${what} failed`, { error: describeFailure(error) });
      return null;
    }
  }
  const run = <Row extends object>(command: CommandName, values: readonly unknown[]): Promise<{ rows: Row[]; rowCount: number | null }> =>
    pool.query<Row>({ ...statements[command], values: [...values] });

  return {
    lease: (ttlMs) =>
      attempt('taking the lease', async () => Number((await run<{ token: string }>('acquire_reconciler_lease', [LEASE_NAME, holder, ttlMs])).rows[0]?.token ?? '0')),
    async freeLease() {
      await attempt('giving the lease back', () => run('free_reconciler_lease', [LEASE_NAME, holder]));
    },
    knownRedis: (sku) =>
      attempt('reading the known Redis', async () => {
        const row = (await run<{ epoch: string; run_id: string }>('find_redis_mirror', [sku.activityId, sku.skuId])).rows[0];
        return row === undefined ? 'none' : { epoch: Number(row.epoch), runId: row.run_id };
      }),
    saveKnownRedis: (sku, { epoch, runId }, token, isRebuild) =>
      attempt('saving the known Redis', async () => (await run('save_redis_mirror', [sku.activityId, sku.skuId, epoch, runId, isRebuild ? 1 : 0, LEASE_NAME, token])).rowCount === 1),
    durable: (sku) => attempt('reading the durable ledger', () => inSnapshot(pool, (client) => readDurable(client, statements, sku, config))),
    inboxed: (messageIds) =>
      attempt('reading the Inbox', async () => {
        if (messageIds.length === 0) return new Set<MessageId>();
        const { rows } = await run<{ message_id: string }>('find_inboxed_messages', [namespace.ordersGroup, [...messageIds]]);
        return new Set(rows.map((row) => row.message_id));
      }),
    plan: (sku, epoch, token, differences) => attempt('planning repairs', () => planAll(run, sku, epoch, token, differences)),
    openAdjustments: (sku) =>
      attempt('reading open repairs', async () => (await run<AdjustmentRow>('find_open_adjustments', [sku.activityId, sku.skuId])).rows.map(adjustmentOf)),
    settle: (adjustmentId, status, outcome) => attempt('settling a repair', async () => (await run('settle_adjustment', [adjustmentId, status, outcome])).rowCount === 1),
    ready: () => answers(pool),
    close: () => pool.end(),
  };

  function adjustmentOf(row: AdjustmentRow): PlannedAdjustment {
    return { adjustmentId: row.adjustment_id, epoch: Number(row.epoch), kind: row.kind, subject: row.subject, repair: row.repair };
  }
  function readDurable(client: PoolClient, prepared: Statements, sku: SkuKey, of: RoleConfig): Promise<DurableLedger | 'unknown-sku'> {
    return readLedger(client, prepared, sku, { allocator: strategies.allocator, group: of.namespace.ordersGroup, eventsTopic: of.namespace.eventsTopic });
  }
}

type Run = <Row extends object>(command: CommandName, values: readonly unknown[]) => Promise<{ rows: Row[]; rowCount: number | null }>;

async function planAll(run: Run, sku: SkuKey, epoch: number, token: number, differences: readonly Difference[]): Promise<readonly PlannedAdjustment[]> {
  const planned: PlannedAdjustment[] = [];
  for (const { kind, subject, repair } of differences) if (repair !== null) planned.push({ adjustmentId: randomUUID(), epoch, kind, subject, repair });
  if (planned.length === 0) return [];
  const repairable = differences.filter(({ repair }) => repair !== null);
  const { rows } = await run<{ adjustment_id: string }>('plan_adjustments', [
    sku.activityId, sku.skuId, epoch, LEASE_NAME, token,
    planned.map(({ adjustmentId }) => adjustmentId), planned.map(({ kind }) => kind), planned.map(({ subject }) => subject),
    repairable.map(({ reservationId }) => reservationId), repairable.map(({ seen }) => seen), planned.map(({ repair }) => JSON.stringify(repair)),
    planned.map(({ repair }) => (repair.act === 'adjust' ? repair.change.stockDelta : 0)), planned.map(({ repair }) => repair.act === 'resend'),
  ]);
  const written = new Set(rows.map((row) => row.adjustment_id));
  return planned.filter(({ adjustmentId }) => written.has(adjustmentId));
}

/** One REPEATABLE READ snapshot. The client that saw an error is destroyed. */
async function inSnapshot<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const value = await work(client);
    await client.query('COMMIT');
    client.release();
    return value;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function readLedger(client: PoolClient, statements: Statements, sku: SkuKey, of: { allocator: string; group: string; eventsTopic: string }): Promise<DurableLedger | 'unknown-sku'> {
  const [terms] = (await client.query<SkuRow>({ ...statements.reconcile_sku, values: [sku.activityId, sku.skuId] })).rows;
  if (terms === undefined) return 'unknown-sku';
  const reservations = [];
  let after = FIRST_ID;
  for (;;) {
    const { rows } = await client.query<ReservationRow>({ ...statements.reconcile_reservations, values: [sku.activityId, sku.skuId, after, PAGE_SIZE, of.group, of.eventsTopic] });
    for (const row of rows) reservations.push(reservationOf(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_SIZE) break;
    after = last.reservation_id;
  }
  return { sku: skuOf(terms, of.allocator), reservations };
}
