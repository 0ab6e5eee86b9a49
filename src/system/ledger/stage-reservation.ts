/** Second stage: the durable reservation rows. What is there already decides its message; what is expired or stopped is refused. */
import { OrderResult } from '../../domain/reason-codes.js';
import { ActivityStatus, ReservationStatus, SkuStatus } from '../../domain/status-codes.js';
import { column, skuKeyText, type OrderWork } from './order-work.js';
import { LedgerAnomaly } from './postgres-failure.js';
import type { SkuTerms } from './sku-terms.js';
import type { Transaction } from './transaction.js';

/**
 * Gives each work its reservation row or its decision. Messages of one reservation inside the batch follow the first of them.
 */
export async function reserveDurably(transaction: Transaction, works: readonly OrderWork[], terms: ReadonlyMap<string, SkuTerms>): Promise<void> {
  const leaders = chooseLeaders(works);
  const expired = await insertRows(transaction, leaders);
  const colliding = leaders.filter((work) => !work.pendingRow);
  if (colliding.length > 0) {
    for (const reservationId of await lockExisting(transaction, colliding)) expired.add(reservationId);
    await explainRequests(transaction, colliding.filter((work) => work.decision === null && !work.pendingRow));
  }
  for (const work of leaders) {
    if (work.pendingRow) work.decision = refusalByTerms(work, terms.get(skuKeyText(work.message)), expired.has(work.message.reservationId));
  }
}

function chooseLeaders(works: readonly OrderWork[]): readonly OrderWork[] {
  const leaderOf = new Map<string, OrderWork>();
  for (const work of works) {
    const leader = leaderOf.get(work.message.reservationId);
    if (leader === undefined) leaderOf.set(work.message.reservationId, work);
    else work.follows = { leader, as: 'same-reservation' };
  }
  return [...leaderOf.values()];
}

/** Returns the reservation ids of new rows that are expired. */
async function insertRows(transaction: Transaction, leaders: readonly OrderWork[]): Promise<Set<string>> {
  const made = await transaction.run<{ reservation_id: string; expired: boolean }>('insert_reservations', [
    column(leaders, (work) => work.message.reservationId),
    column(leaders, (work) => work.message.requestId),
    column(leaders, (work) => work.message.messageId),
    column(leaders, (work) => work.message.activityId),
    column(leaders, (work) => work.message.skuId),
    column(leaders, (work) => work.message.userId),
    column(leaders, (work) => work.message.purchaseNo),
    column(leaders, (work) => work.message.reservedAtMs),
    column(leaders, (work) => work.message.expiresAtMs),
  ]);
  const isMade = new Set(made.rows.map((row) => row.reservation_id));
  for (const work of leaders) work.pendingRow = isMade.has(work.message.reservationId);
  return new Set(made.rows.filter((row) => row.expired).map((row) => row.reservation_id));
}

/** Another message of the same reservation came first (paper 001 §7.3): its row decides. Returns the ids of pending rows that are expired. */
async function lockExisting(transaction: Transaction, colliding: readonly OrderWork[]): Promise<readonly string[]> {
  const locked = await transaction.run<{ reservation_id: string; status: number; order_id: string | null; expired: boolean }>('lock_reservations', [
    column(colliding, (work) => work.message.reservationId),
  ]);
  const rowOf = new Map(locked.rows.map((row) => [row.reservation_id, row]));
  for (const work of colliding) {
    const row = rowOf.get(work.message.reservationId);
    if (row === undefined) continue;
    const holdsOrder = row.status === ReservationStatus.ORDERED || row.status === ReservationStatus.RELEASE_PENDING;
    if (row.status === ReservationStatus.PENDING_DB) work.pendingRow = true;
    else if (holdsOrder && row.order_id !== null) work.decision = { result: OrderResult.ALREADY_ORDERED, orderId: row.order_id };
    else work.decision = { result: OrderResult.ALREADY_CLOSED, orderId: null };
  }
  return locked.rows.filter((row) => row.expired).map((row) => row.reservation_id);
}

/** No row of their own: the request id must belong to another reservation, or the tables are not what they must be. */
async function explainRequests(transaction: Transaction, works: readonly OrderWork[]): Promise<void> {
  if (works.length === 0) return;
  const owners = await transaction.run<{ activity_id: string; sku_id: string; request_id: string }>('find_request_owners', [
    column(works, (work) => work.message.activityId),
    column(works, (work) => work.message.skuId),
    column(works, (work) => work.message.requestId),
  ]);
  const owned = new Set(owners.rows.map((row) => `${row.activity_id}:${row.sku_id}:${row.request_id}`));
  for (const work of works) {
    if (!owned.has(`${skuKeyText(work.message)}:${work.message.requestId}`)) {
      throw new LedgerAnomaly(`reservation ${work.message.reservationId} collides with nothing that can be found`);
    }
    work.decision = { result: OrderResult.REJECTED_DUPLICATE_REQUEST, orderId: null };
  }
}

function refusalByTerms(work: OrderWork, terms: SkuTerms | undefined, isExpired: boolean): OrderWork['decision'] {
  const refuse = (result: OrderResult): OrderWork['decision'] => ({ result, orderId: null });
  if (terms?.activityVersion !== work.message.activityVersion) return refuse(OrderResult.REJECTED_ACTIVITY_VERSION);
  // ENDED is not stopped: what was reserved inside the window is still honoured until its own expiry. SOLD_OUT is decided by the allocator.
  const activityRuns = terms.activityStatus === ActivityStatus.OPEN || terms.activityStatus === ActivityStatus.ENDED;
  const skuSells = terms.skuStatus === SkuStatus.ON_SALE || terms.skuStatus === SkuStatus.SOLD_OUT;
  if (!activityRuns || !skuSells) return refuse(OrderResult.REJECTED_ACTIVITY_STOPPED);
  return isExpired ? refuse(OrderResult.REJECTED_EXPIRED) : null;
}
