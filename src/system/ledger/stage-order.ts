/** Third stage: the orders. Unique keys decide who has one; the queries afterwards only explain what they decided (paper 001 §9.3). */
import type { Clock } from '../../domain/clock.js';
import { OrderResult } from '../../domain/reason-codes.js';
import { createOrderNumber } from './order-id.js';
import { column, isOpen, skuKeyText, type OrderWork } from './order-work.js';
import { LedgerAnomaly, OrderIdTaken } from './postgres-failure.js';
import type { SkuTerms } from './sku-terms.js';
import type { Transaction } from './transaction.js';

export interface OrderTerms {
  readonly terms: ReadonlyMap<string, SkuTerms>;
  readonly paymentWindowMs: number;
  readonly clock: Clock;
}

/** Inserts an order per open work; returns those that have one now. The others are decided, or follow the earlier order of their user. */
export async function makeOrders(transaction: Transaction, works: readonly OrderWork[], order: OrderTerms): Promise<readonly OrderWork[]> {
  const open = works.filter(isOpen);
  if (open.length === 0) return [];
  const made = await transaction.run<{ order_id: string; purchase_no: number; expire_at: string }>('insert_orders', [
    column(open, (work) => work.orderId),
    column(open, () => createOrderNumber(order.clock)),
    column(open, (work) => work.message.requestId),
    column(open, (work) => work.message.reservationId),
    column(open, (work) => work.message.messageId),
    column(open, (work) => work.message.activityId),
    column(open, (work) => work.message.skuId),
    column(open, (work) => work.message.userId),
    column(open, (work) => termsOf(order, work).rebuyAfterCancel),
    column(open, (work) => termsOf(order, work).unitPrice),
    column(open, (work) => termsOf(order, work).currency),
    order.paymentWindowMs,
  ]);
  const rowOf = new Map(made.rows.map((row) => [row.order_id, row]));
  for (const work of open) {
    const row = rowOf.get(work.orderId);
    if (row !== undefined) work.made = { purchaseNo: row.purchase_no, expireAt: row.expire_at };
  }
  if (made.count === open.length) return open;
  const ordered = open.filter((work) => work.made !== null);
  await explainConflicts(transaction, open.filter((work) => work.made === null), ordered);
  return ordered;
}

export function termsOf(order: Pick<OrderTerms, 'terms'>, work: OrderWork): SkuTerms {
  const terms = order.terms.get(skuKeyText(work.message));
  if (terms === undefined) throw new LedgerAnomaly(`SKU ${work.message.skuId} has no terms`);
  return terms;
}

interface ConflictRow {
  readonly tried_order_id: string;
  readonly reservation_owner: string | null;
  readonly request_owner: string | null;
  readonly user_owner: string | null;
  readonly id_taken: boolean;
}

async function explainConflicts(transaction: Transaction, refused: readonly OrderWork[], ordered: readonly OrderWork[]): Promise<void> {
  const found = await transaction.run<ConflictRow>('find_conflicting_orders', [
    column(refused, (work) => work.orderId),
    column(refused, (work) => work.message.requestId),
    column(refused, (work) => work.message.reservationId),
    column(refused, (work) => work.message.activityId),
    column(refused, (work) => work.message.skuId),
    column(refused, (work) => work.message.userId),
  ]);
  const conflictOf = new Map(found.rows.map((row) => [row.tried_order_id, row]));
  const orderedHere = new Map(ordered.map((work) => [work.orderId, work]));
  for (const work of refused) {
    const conflict = conflictOf.get(work.orderId);
    if (conflict === undefined) throw new LedgerAnomaly(`order of reservation ${work.message.reservationId} was not made and not explained`);
    explain(work, conflict, orderedHere);
  }
}

function explain(work: OrderWork, conflict: ConflictRow, orderedHere: ReadonlyMap<string, OrderWork>): void {
  if (conflict.reservation_owner !== null) {
    work.decision = { result: OrderResult.ALREADY_ORDERED, orderId: conflict.reservation_owner };
    return;
  }
  if (conflict.request_owner !== null) {
    work.decision = { result: OrderResult.REJECTED_DUPLICATE_REQUEST, orderId: null };
    return;
  }
  const leader = conflict.user_owner === null ? undefined : orderedHere.get(conflict.user_owner);
  if (leader !== undefined) {
    // Whether that order stays is known only after the allocation; one by one, this message would meet its end, not its beginning.
    work.follows = { leader, as: 'same-user' };
    return;
  }
  if (conflict.user_owner !== null) {
    work.decision = { result: OrderResult.REJECTED_DUPLICATE_USER, orderId: null };
    return;
  }
  if (conflict.id_taken) throw new OrderIdTaken(`order id ${work.orderId} is taken`);
  throw new LedgerAnomaly(`order of reservation ${work.message.reservationId} conflicts with nothing that can be found`);
}
