/**
 * What follows when orders end: reservation → stock → ledger → Outbox (paper 001 §9.10), for one order or a page of them. The conditional update
 * of the order has come before and has decided; from here on every row count must be exact, or everything is rolled back.
 */
import { v7 as uuidv7 } from 'uuid';

import type { OrderEvent } from '../../domain/order-event.js';
import { EventType, LedgerReason } from '../../domain/reason-codes.js';
import type { AccountBefore, HeldUnit } from '../ledger/allocators/unit-keeper-port.js';
import { column } from '../ledger/order-work.js';
import { LedgerAnomaly } from '../ledger/postgres-failure.js';
import { insertEvents } from '../ledger/stage-outcome.js';
import type { Transaction } from '../ledger/transaction.js';
import { noteUnit, type LifeParts, type LockedOrder, type MovedOrder } from './locked-order.js';

/** An order that has ended in this transaction, with its unit. */
interface Ended {
  readonly locked: LockedOrder;
  readonly moved: MovedOrder;
  readonly unit: HeldUnit;
  /** Of the reservation, after its release. */
  version: number;
}

export interface ReleaseParts extends Pick<LifeParts, 'eventsTopic' | 'keeper' | 'ids'> {
  readonly reason: LedgerReason;
}

/** Every order must be locked, and moved to its end by this transaction. */
export async function releaseOrders(transaction: Transaction, locked: ReadonlyMap<string, LockedOrder>, moved: readonly MovedOrder[], parts: ReleaseParts): Promise<void> {
  if (moved.length === 0) return;
  noteUnit(transaction, moved);
  const ended = moved.map((row) => endedOf(row, locked));
  await releaseReservations(transaction, ended);
  // One account after the other, in the sequence of the order transaction.
  for (const [, group] of [...byAccount(ended)].sort(([one], [other]) => (one < other ? -1 : 1))) await returnUnits(transaction, group, parts);
  await insertEvents(transaction, parts.eventsTopic, ended.flatMap((one) => eventsOf(one, parts.reason)));
}

function endedOf(moved: MovedOrder, locked: ReadonlyMap<string, LockedOrder>): Ended {
  const lock = locked.get(moved.order_id);
  if (lock?.reservationId !== moved.reservation_id) throw new LedgerAnomaly(`order ${moved.order_id} ended without the lock of its reservation`);
  const unit = { reservationId: moved.reservation_id, orderId: moved.order_id, bucketNo: moved.inventory_bucket, tokenId: moved.inventory_token_id };
  return { locked: lock, moved, unit, version: 0 };
}

async function releaseReservations(transaction: Transaction, ended: readonly Ended[]): Promise<void> {
  const released = await transaction.run<{ reservation_id: string; version: string }>('release_reservations', [column(ended, (one) => one.locked.reservationId)]);
  const versionOf = new Map(released.rows.map((row) => [row.reservation_id, Number(row.version)]));
  for (const one of ended) {
    const version = versionOf.get(one.locked.reservationId);
    if (version === undefined) throw new LedgerAnomaly(`order ${one.locked.orderId} ended while its reservation ${one.locked.reservationId} held no unit`);
    one.version = version;
  }
}

function byAccount(ended: readonly Ended[]): ReadonlyMap<string, Ended[]> {
  const groups = new Map<string, Ended[]>();
  for (const one of ended) {
    const { activityId, skuId } = one.locked.sku;
    const key = `${activityId}:${skuId}:${String(one.unit.bucketNo).padStart(3, '0')}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

/** A withdrawn unit has no entry: nothing becomes available (`state-table.ts`). All of a group belong to one activity, so to one rule. */
async function returnUnits(transaction: Transaction, group: readonly Ended[], { keeper, ids, reason }: ReleaseParts): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const units = column(group, (one) => one.unit);
  if (first.locked.fate === 'withdrawn') {
    await keeper.withdraw(transaction, first.locked.sku, units);
    return;
  }
  const accounts = await keeper.restock(transaction, first.locked.sku, units);
  const before = (place: number): AccountBefore => {
    const account = accounts[place];
    if (account === undefined) throw new LedgerAnomaly('a unit came back to no account');
    return account;
  };
  const entries = await transaction.run('insert_ledger_releases', [
    column(group, () => ids.next()),
    column(group, (one) => one.locked.reservationId),
    column(group, (one) => one.locked.orderId),
    column(group, (one) => one.moved.source_message_id),
    column(group, (one) => one.locked.sku.activityId),
    column(group, (one) => one.locked.sku.skuId),
    column(group, (one) => one.locked.userId),
    column(group, (one) => one.unit.bucketNo),
    column(group, (one) => one.unit.tokenId),
    group.map((_one, place) => before(place).beforeAvailable),
    group.map((_one, place) => before(place).beforeAllocated),
    reason,
  ]);
  if (entries.count !== group.length) throw new LedgerAnomaly(`${String(entries.count)} RELEASE entries for ${String(group.length)} units`);
}

/** The order's event, where it was cancelled, then the reservation's, which is the one that gives the unit back in Redis. */
function eventsOf({ locked, version }: Ended, reason: LedgerReason): OrderEvent[] {
  const common = {
    schemaVersion: 1, aggregateId: locked.reservationId, reservationId: locked.reservationId, requestId: locked.requestId,
    activityId: locked.sku.activityId, skuId: locked.sku.skuId, userId: locked.userId, orderId: locked.orderId, reason,
  } as const;
  const released: OrderEvent = {
    ...common, eventId: uuidv7(), type: EventType.RESERVATION_RELEASED, aggregateVersion: version,
    returnsUnit: locked.fate === 'restocked', clearsUserMark: locked.rebuy,
  };
  if (reason === LedgerReason.REFUNDED) return [released];
  return [{ ...common, eventId: uuidv7(), type: EventType.ORDER_CANCELLED, aggregateVersion: version - 1, returnsUnit: false, clearsUserMark: false }, released];
}
