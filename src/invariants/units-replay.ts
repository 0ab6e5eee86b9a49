/**
 * Units of stock, commit by commit: who holds one, which tokens are taken, what each inventory row says. The moment of an oversell
 * that a later refund repairs is visible only here.
 */
import type { Facts } from '../facts/facts.js';
import type { CommittedTransaction, RowChange } from '../facts/store-facts.js';
import { columnOf, visibleChanges } from './commit-history.js';
import { orderHoldsUnit, reservationHoldsUnit } from './state-tables.js';

export interface Bucket {
  readonly total: number;
  readonly available: number;
  readonly allocated: number;
}

export interface Units {
  /** Reservations that hold a unit, by their own state or by their order's. */
  readonly held: ReadonlySet<string>;
  /** Reservations in state RELEASED that had an order. */
  readonly released: ReadonlySet<string>;
  /** Claimed and sold tokens → their reservation. */
  readonly takenTokens: ReadonlyMap<string, string | null>;
  /** By bucket number, only rows that changed so far. */
  readonly buckets: ReadonlyMap<string, Bucket>;
}

class UnitsAccount implements Units {
  readonly held = new Set<string>();
  readonly released = new Set<string>();
  readonly takenTokens = new Map<string, string | null>();
  readonly buckets = new Map<string, Bucket>();
  readonly #byRow = new Set<string>();
  readonly #byOrder = new Set<string>();
  readonly #reservationOfOrder = new Map<string, string>();

  /** True when the change concerns units. */
  apply(change: RowChange): boolean {
    switch (change.table) {
      case 'inventory_reservation':
        return this.#reservation(change);
      case 'orders':
        return this.#order(change);
      case 'inventory_token':
        return this.#token(change);
      case 'sku_inventory':
        return this.#bucket(change);
      default:
        return false;
    }
  }

  #hold(reservationId: string, by: Set<string>, holds: boolean): void {
    if (holds) by.add(reservationId);
    else by.delete(reservationId);
    if (this.#byRow.has(reservationId) || this.#byOrder.has(reservationId)) this.held.add(reservationId);
    else this.held.delete(reservationId);
  }

  #reservation(change: RowChange): boolean {
    const id = columnOf(change, 'reservation_id');
    const status = change.kind === 'delete' ? NaN : Number(columnOf(change, 'status'));
    this.#hold(id, this.#byRow, reservationHoldsUnit(status, change.row['order_id'] ?? null));
    if (status === 40 && change.row['order_id'] !== null) this.released.add(id);
    else this.released.delete(id);
    return true;
  }

  #order(change: RowChange): boolean {
    const orderId = columnOf(change, 'order_id');
    if (change.kind === 'delete') {
      const reservationId = this.#reservationOfOrder.get(orderId);
      if (reservationId !== undefined) this.#hold(reservationId, this.#byOrder, false);
      return true;
    }
    const reservationId = columnOf(change, 'reservation_id');
    this.#reservationOfOrder.set(orderId, reservationId);
    this.#hold(reservationId, this.#byOrder, orderHoldsUnit(Number(columnOf(change, 'status'))));
    return true;
  }

  #token(change: RowChange): boolean {
    const tokenId = columnOf(change, 'token_id');
    const status = change.kind === 'delete' ? NaN : Number(columnOf(change, 'status'));
    if (status === 10 || status === 20) this.takenTokens.set(tokenId, change.row['reservation_id'] ?? null);
    else this.takenTokens.delete(tokenId);
    return true;
  }

  #bucket(change: RowChange): boolean {
    const bucketNo = columnOf(change, 'bucket_no');
    if (change.kind === 'delete') this.buckets.delete(bucketNo);
    else {
      const number = (column: string): number => Number(columnOf(change, column));
      this.buckets.set(bucketNo, { total: number('total_stock'), available: number('available_stock'), allocated: number('allocated_stock') });
    }
    return true;
  }
}

/** Calls `atCommit` after every transaction that moved units, in commit order. Nothing to do without a commit log. */
export function replayUnits(facts: Facts, atCommit: (units: Units, transaction: CommittedTransaction) => void): void {
  if (!facts.commitLog.present) return;
  const account = new UnitsAccount();
  for (const transaction of facts.commitLog.value.transactions) {
    let moved = false;
    for (const change of visibleChanges(transaction)) moved = account.apply(change) || moved;
    if (moved) atCommit(account, transaction);
  }
}

/** Reservations that hold a unit by the snapshot. */
export function heldBySnapshot(facts: Facts): ReadonlySet<string> {
  const held = new Set<string>();
  if (!facts.postgres.present) return held;
  for (const row of facts.postgres.value.reservations) if (reservationHoldsUnit(row.status, row.orderId)) held.add(row.reservationId);
  for (const row of facts.postgres.value.orders) if (orderHoldsUnit(row.status)) held.add(row.reservationId);
  return held;
}

/** The reservation of the first order or reservation row that a transaction changed: whose story to tell about it. */
export function reservationIn(transaction: CommittedTransaction): string | null {
  for (const change of transaction.changes) {
    const id = change.row['reservation_id'];
    if (id !== undefined && id !== null) return id;
  }
  return null;
}
