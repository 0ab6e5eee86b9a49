/** How units of stock are taken inside the order transaction. One strategy is one file; the registry names them. */
import type { OrderId, ReservationId, SkuKey } from '../../../domain/ids.js';
import type { Transaction } from '../transaction.js';

export interface UnitRequest {
  readonly reservationId: ReservationId;
  readonly orderId: OrderId;
}

/** A unit taken, with the values of its ledger account before the taking. */
export interface AllocatedUnit {
  readonly bucketNo: number;
  /** The unit itself where units are rows; null where stock is a number. */
  readonly tokenId: string | null;
  readonly beforeAvailable: number;
  readonly beforeAllocated: number;
}

export interface Allocator {
  /**
   * Takes one unit per request, earlier requests first, and answers in the order asked: a unit, or null when the SKU is sold out for good
   * at this moment. Never takes more units than asked. Throws `UnitsLocked` when units exist that others hold locked: the whole transaction is
   * then tried again.
   */
  allocate(transaction: Transaction, sku: SkuKey, requests: readonly UnitRequest[]): Promise<readonly (AllocatedUnit | null)[]>;
}
