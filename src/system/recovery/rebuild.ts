/**
 * Rebuilding Redis after it lost writes (paper `004` §10–§12): pause → what is on its way arrives → compute from durable facts → write beside the live
 * keys → new epoch. Letting the stock go in steps comes after it (`reopen.ts`).
 *
 * Every write carries the token of the lease, so a holder that was stopped in the middle and wakes up later changes nothing. A rebuild that ends half way
 * leaves the SKU paused, and the next one begins anew.
 */
import type { SkuKey } from '../../domain/ids.js';
import type { ReconcilerTuning } from '../../domain/reconciler-tuning.js';
import { RedisRecordState } from '../../domain/status-codes.js';
import type { ReconciliationStore } from '../ledger/reconciliation-store.js';
import type { OrderLogReader } from '../order-log/order-log-reader.js';
import type { RoleSurroundings } from '../role.js';
import { REBUILD_PAGE_MAX, type RebuildPage } from '../stock/mirror-scripts.js';
import type { RedisMirror } from '../stock/mirror.js';
import { packRecord, unpackRecord } from '../stock/record-codec.js';
import type { SkuMeta, StockRecord } from '../stock/stock-port.js';
import { planRebuild, type RebuildPlan } from './rebuild-plan.js';
import type { DurableLedger, Look } from './reconciliation-ledgers.js';
import { takeLook } from './reconciler-look.js';

export interface RebuildTools {
  readonly mirror: RedisMirror;
  readonly store: ReconciliationStore;
  readonly reader: OrderLogReader;
  readonly surroundings: RoleSurroundings;
  readonly tuning: ReconcilerTuning;
  /** Longest time that a gateway's own send may still be under way after its reserve call ended. */
  readonly inFlightMs: number;
  /** Waits, or ends early when the role stops. */
  pause(ms: number): Promise<void>;
  stopping(): boolean;
  /** Renews the lease; false: it is another's now. */
  holdsLease(token: number): Promise<boolean>;
}

/** `again`: a store was away, the lease was lost or the role stops; the SKU stays paused. */
export type RebuildEnd = { readonly end: 'rebuilt'; readonly epoch: number; readonly plan: RebuildPlan } | { readonly end: 'again'; readonly why: string };

const DRAIN_LOOK_MS = 200;

export async function rebuild(tools: RebuildTools, sku: SkuKey, token: number): Promise<RebuildEnd> {
  const { mirror, store, surroundings } = tools;
  const begun = await mirror.rebuildBegin(sku, token);
  if (begun.outcome !== 'done') return again(`Redis: ${begun.reason}`);
  if (begun.value === 'fenced') return again('a newer reconciler has begun');
  // What a gateway had reserved on the Redis before may still be on its way to the topic.
  await tools.pause(tools.inFlightMs);
  const look = await drained(tools, sku, token);
  if (look === null) return again('a store was away or the lease was lost before everything had arrived');
  const plan = planRebuild(sourcesOf(look));
  const state = await mirror.state(sku);
  const known = await store.knownRedis(sku);
  if (state.outcome !== 'done' || known === null) return again('a store was away');
  const epoch = Math.max(state.value.epoch, known === 'none' ? 0 : known.epoch) + 1;
  const written = await writePages(tools, sku, token, plan);
  if (written !== null) return again(written);
  // Remembered before it is opened: a Redis that falls back behind this epoch is an older one.
  if ((await store.saveKnownRedis(sku, { epoch, runId: state.value.serverRunId }, token, true)) !== true) return again('the new epoch was not saved');
  const finished = await mirror.rebuildFinish(sku, token, plan.units, metaOf(look.durable, epoch));
  if (finished.outcome !== 'done') return again(`Redis: ${finished.reason}`);
  if (finished.value === 'fenced') return again('a newer reconciler has begun');
  await surroundings.observer.reached('reconciler.after-rebuild', [...look.durable.reservations.slice(0, 64)].map((row) => row.reservationId));
  return { end: 'rebuilt', epoch, plan };
}

function again(why: string): RebuildEnd {
  return { end: 'again', why };
}

/**
 * Waits until the consumer has worked the topic off and PostgreSQL knows every reservation that survived; the scanner sends what was never sent. Not
 * for ever: what is still open at the end of the patience is carried over as pending, with its unit kept back.
 */
async function drained(tools: RebuildTools, sku: SkuKey, token: number): Promise<Look | null> {
  const deadline = performance.now() + tools.tuning.drainPatienceMs;
  for (;;) {
    if (tools.stopping() || !(await tools.holdsLease(token))) return null;
    const late = performance.now() >= deadline;
    if (late || (await tools.reader.lag()) === 0) {
      const look = await takeLook(tools, sku);
      if (look !== null && (late || isDrained(look))) return look;
    }
    await tools.pause(DRAIN_LOOK_MS);
  }
}

function isDrained(look: Look): boolean {
  const durable = new Set(look.durable.reservations.map((row) => row.reservationId));
  return look.topic.lag === 0 && survivorsOf(look).every((record) => durable.has(record.reservationId) || !isOpen(record) || look.inboxed.has(record.messageId));
}

function isOpen({ state }: StockRecord): boolean {
  return state === RedisRecordState.PENDING || state === RedisRecordState.SENT;
}

function survivorsOf(look: Look): readonly StockRecord[] {
  return [...look.redis.records].flatMap(([requestId, text]) => unpackRecord(requestId, text) ?? []);
}

function sourcesOf(look: Look): Parameters<typeof planRebuild>[0] {
  const durable = new Set(look.durable.reservations.map((row) => row.reservationId));
  const unfinished = [...look.topic.messages.values()].map(({ message }) => message).filter((message) => !durable.has(message.reservationId) && !look.inboxed.has(message.messageId));
  return { durable: look.durable, unfinished, survivors: survivorsOf(look) };
}

/** Bounded pages beside the live keys; null when all are written, else why not. */
async function writePages(tools: RebuildTools, sku: SkuKey, token: number, plan: RebuildPlan): Promise<string | null> {
  const records = [...plan.records].map(([requestId, record]) => [requestId, packRecord(record)] as const);
  const users = [...plan.users];
  const longest = Math.max(records.length, users.length, plan.pending.length);
  for (let start = 0; start < longest; start += REBUILD_PAGE_MAX) {
    const end = start + REBUILD_PAGE_MAX;
    const page: RebuildPage = { records: records.slice(start, end), users: users.slice(start, end), pending: plan.pending.slice(start, end) };
    const written = await tools.mirror.rebuildPage(sku, token, page);
    if (written.outcome !== 'done') return `Redis: ${written.reason}`;
    if (written.value === 'fenced' || tools.stopping()) return 'a newer reconciler has begun, or this one stops';
    // A page takes a millisecond or two, a lease lasts seconds.
    if ((start / REBUILD_PAGE_MAX) % 100 === 99 && !(await tools.holdsLease(token))) return 'the lease was lost';
  }
  return null;
}

function metaOf({ sku }: DurableLedger, epoch: number): SkuMeta {
  const { activityVersion, startAtMs, endAtMs, unitPrice, currency, isOnSale } = sku;
  return { activityVersion, startAtMs, endAtMs, unitPrice, currency, status: isOnSale ? 'open' : 'stopped', epoch: String(epoch) };
}
