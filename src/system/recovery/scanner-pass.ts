/**
 * One pass of the scanner over one SKU: claim a page, ask PostgreSQL, act. Every action may be repeated by another scanner without harm:
 * a resend is a duplicate message under the same id, a close is a conditional insert, a projection carries its version. So a scanner that
 * was paused past its lease and resumes can only send something twice (CASES C13).
 */
import { encodeOrderMessage, type OrderMessage } from '../../domain/order-message.js';
import type { SkuKey } from '../../domain/ids.js';
import type { ReservationJudge } from '../ledger/ledger-port.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import type { ProjectionUpdate, StockPort, StockRecord } from '../stock/stock-port.js';
import { endingOf, handOver } from './manual-hand-over.js';
import { decide, isPastDeadline, type PatienceBook } from './scanner-decision.js';
import type { ScannerRecorders } from './scanner-metrics.js';

export interface PassTools {
  readonly stock: StockPort;
  readonly judge: ReservationJudge;
  readonly producer: LogProducer;
  readonly surroundings: RoleSurroundings;
  readonly recorders: ScannerRecorders;
  readonly patience: PatienceBook;
  readonly ordersTopic: string;
  readonly leaseMs: number;
  readonly pageSize: number;
  readonly expiryMarginMs: number;
  readonly recoveryDeadlineMs: number;
}

/** What the loop needs to know: more is due at once, or something is away and patience is better. */
export type PassEnd = 'page-full' | 'page-done' | 'store-away';

export async function scanOnce(tools: PassTools, sku: SkuKey): Promise<PassEnd> {
  const { stock, judge, recorders, surroundings } = tools;
  const claimedAt = performance.now();
  const claim = await stock.claimPending(sku, tools.leaseMs, tools.pageSize);
  if (claim.outcome !== 'done') return 'store-away';
  recorders.pendingCount(sku).set(claim.pendingCount);
  recorders.oldestAgeSeconds(sku).set(oldestAgeSeconds(claim.records, claim.nowMs));
  if (claim.orphans.length > 0) {
    recorders.orphans.add(claim.orphans.length);
    surroundings.log('error', 'the pending index names requests without a record', { skuId: sku.skuId, count: claim.orphans.length, first: claim.orphans[0] ?? null });
  }
  if (claim.records.length === 0) return claim.orphans.length === tools.pageSize ? 'page-full' : 'page-done';
  await surroundings.observer.reached('scanner.after-claim', idsOf(claim.records));

  const durable = await judge.durableStates(idsOf(claim.records));
  // Without PostgreSQL nothing can be judged: the lease runs out by itself and the page comes due again.
  if (durable === null) return 'store-away';
  // The page is another scanner's by now; leaving it saves duplicates (they would do no harm).
  if (performance.now() - claimedAt >= tools.leaseMs) {
    recorders.leaseLost.add();
    return 'page-full';
  }

  const work = sort(tools, claim.records, durable, claim.nowMs);
  await resend(tools, sku, work.resend);
  await project(tools, sku, work.project);
  const refused = await close(tools, sku, work.close);
  if (refused === null) return 'store-away';
  const lost = refused.filter((record) => isPastDeadline(record, { nowMs: claim.nowMs, recoveryDeadlineMs: tools.recoveryDeadlineMs }));
  if (!(await handOver(tools, sku, [...work.handOver, ...lost]))) return 'store-away';
  return claim.records.length + claim.orphans.length >= tools.pageSize ? 'page-full' : 'page-done';
}

interface SortedWork {
  readonly resend: StockRecord[];
  readonly close: StockRecord[];
  readonly handOver: StockRecord[];
  readonly project: ProjectionUpdate[];
}

function sort({ patience, expiryMarginMs, recoveryDeadlineMs }: PassTools, records: readonly StockRecord[], durable: NonNullable<Awaited<ReturnType<ReservationJudge['durableStates']>>>, nowMs: number): SortedWork {
  const work: SortedWork = { resend: [], close: [], handOver: [], project: [] };
  for (const record of records) {
    const state = durable.get(record.reservationId);
    const decision = decide(record, state, { nowMs, expiryMarginMs, recoveryDeadlineMs, isProjectionOverdue: () => patience.isOverdue(record.reservationId, nowMs) });
    if (decision.action === 'resend') work.resend.push(record);
    else if (decision.action === 'close') work.close.push(record);
    else if (decision.action === 'hand-over') work.handOver.push(record);
    else if (decision.action === 'project') work.project.push(decision.update);
  }
  return work;
}

async function resend({ producer, stock, surroundings, recorders, ordersTopic }: PassTools, sku: SkuKey, records: readonly StockRecord[]): Promise<void> {
  if (records.length === 0) return;
  const ids = idsOf(records);
  await surroundings.observer.reached('scanner.before-resend', ids);
  const results = await Promise.all(
    records.map((record) => producer.send(ordersTopic, { key: record.reservationId, value: encodeOrderMessage(messageOf(sku, record)) })),
  );
  await surroundings.observer.reached('scanner.after-resend', ids);
  const sent: StockRecord[] = [];
  for (const [index, result] of results.entries()) {
    recorders.resent(result.outcome).add();
    const record = records[index];
    if (result.outcome === 'sent' && record !== undefined) sent.push(record);
  }
  // What is not confirmed stays as it is and comes due again when the lease ends.
  if (sent.length === 0) return;
  await stock.markSent(sku, sent.map(({ requestId }) => requestId));
  await surroundings.observer.reached('scanner.after-mark', idsOf(sent));
}

async function project({ stock, recorders, patience }: PassTools, sku: SkuKey, updates: readonly ProjectionUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  for (const [index, reply] of (await stock.project(sku, updates)).entries()) {
    if (reply.outcome !== 'done') continue;
    recorders.projected.add();
    const update = updates[index];
    if (update !== undefined) patience.forget(update.reservationId);
  }
}

/**
 * Closes in PostgreSQL only; the Outbox row written with it gives the unit back. Returns what the database refuses to close, so that one such
 * reservation does not keep the others waiting. null: PostgreSQL is away.
 */
async function close({ judge, recorders, surroundings }: PassTools, sku: SkuKey, records: readonly StockRecord[]): Promise<readonly StockRecord[] | null> {
  const refused: StockRecord[] = [];
  for (const record of records) {
    const { reservationId, requestId } = record;
    const outcome = await judge.closeWithoutOrder(endingOf(sku, record));
    recorders.closed(outcome).add();
    if (outcome === 'unavailable') return null;
    if (outcome === 'refused') refused.push(record);
    else surroundings.log('info', 'a reservation expired without an order', { reservationId, requestId, outcome });
  }
  return refused;
}

/** The same message as the gateway's: every field comes from the record. */
export function messageOf(sku: SkuKey, record: StockRecord): OrderMessage {
  return {
    schemaVersion: 1,
    messageId: record.messageId,
    reservationId: record.reservationId,
    requestId: record.requestId,
    activityId: sku.activityId,
    activityVersion: record.activityVersion,
    skuId: sku.skuId,
    userId: record.userId,
    purchaseNo: record.purchaseNo,
    quantity: 1,
    payloadHash: record.payloadHash,
    reservedAtMs: record.reservedAtMs,
    expiresAtMs: record.expiresAtMs,
  };
}

function idsOf(records: readonly StockRecord[]): readonly string[] {
  return records.map(({ reservationId }) => reservationId);
}

function oldestAgeSeconds(records: readonly StockRecord[], nowMs: number): number {
  let oldestMs = nowMs;
  for (const { reservedAtMs } of records) oldestMs = Math.min(oldestMs, reservedAtMs);
  return Math.max(0, nowMs - oldestMs) / 1_000;
}
