/** Fourth and fifth stage: units for the orders made, then items and ledger for those that got one. */
import { OrderResult } from '../../domain/reason-codes.js';
import type { Allocator } from './allocators/allocator-port.js';
import type { IdSource } from './order-id.js';
import { column, skuKeyText, type OrderWork } from './order-work.js';
import { LedgerAnomaly } from './postgres-failure.js';
import { termsOf, type OrderTerms } from './stage-order.js';
import type { Transaction } from './transaction.js';

/** Gives each ordered work its unit; an order without one is taken back and its work decided (paper 001 §7.4). Returns those with a unit. */
export async function allocateUnits(transaction: Transaction, ordered: readonly OrderWork[], allocator: Allocator): Promise<readonly OrderWork[]> {
  // One SKU after the other, always in the same sequence: two transactions with the same SKUs cannot wait for each other in a ring.
  for (const [, works] of [...bySku(ordered)].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const first = works[0];
    if (first === undefined) continue;
    const units = await allocator.allocate(transaction, first.message, works.map((work) => ({ reservationId: work.message.reservationId, orderId: work.orderId })));
    works.forEach((work, place) => {
      work.unit = units[place] ?? null;
    });
  }
  const without = ordered.filter((work) => work.unit === null);
  if (without.length > 0) {
    const deleted = await transaction.run('delete_unallocated_orders', [column(without, (work) => work.orderId)]);
    if (deleted.count !== without.length) throw new LedgerAnomaly(`${String(deleted.count)} of ${String(without.length)} orders without unit taken back`);
    for (const work of without) work.decision = { result: OrderResult.REJECTED_NO_FINAL_STOCK, orderId: null };
  }
  const sold = ordered.filter((work) => work.unit !== null);
  for (const work of sold) work.decision = { result: OrderResult.ORDER_CREATED, orderId: work.orderId };
  return sold;
}

function bySku(works: readonly OrderWork[]): ReadonlyMap<string, OrderWork[]> {
  const groups = new Map<string, OrderWork[]>();
  for (const work of works) {
    const group = groups.get(skuKeyText(work.message));
    if (group === undefined) groups.set(skuKeyText(work.message), [work]);
    else group.push(work);
  }
  return groups;
}

/** One item line and one ALLOCATE entry per order; each count must be exact. */
export async function writeItemsAndLedger(transaction: Transaction, sold: readonly OrderWork[], order: OrderTerms, ids: IdSource): Promise<void> {
  if (sold.length === 0) return;
  const items = await transaction.run('insert_order_items', [
    column(sold, (work) => work.orderId),
    column(sold, (work) => work.message.activityId),
    column(sold, (work) => work.message.skuId),
    column(sold, (work) => termsOf(order, work).title),
    column(sold, (work) => termsOf(order, work).unitPrice),
  ]);
  const entries = await transaction.run('insert_ledger_allocations', [
    column(sold, () => ids.next()),
    column(sold, (work) => work.message.reservationId),
    column(sold, (work) => work.orderId),
    column(sold, (work) => work.message.messageId),
    column(sold, (work) => work.message.activityId),
    column(sold, (work) => work.message.skuId),
    column(sold, (work) => work.message.userId),
    column(sold, (work) => work.unit?.bucketNo ?? 0),
    column(sold, (work) => work.unit?.tokenId ?? null),
    column(sold, (work) => work.unit?.beforeAvailable),
    column(sold, (work) => work.unit?.beforeAllocated),
  ]);
  if (items.count !== sold.length) throw new LedgerAnomaly(`${String(items.count)} item lines for ${String(sold.length)} orders`);
  // Fewer means a unit of one of these reservations was allocated before, which the unique keys of this transaction exclude.
  if (entries.count !== sold.length) throw new LedgerAnomaly(`${String(entries.count)} ledger entries for ${String(sold.length)} orders`);
}
