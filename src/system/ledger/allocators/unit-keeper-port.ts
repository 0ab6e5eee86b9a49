/** How units that orders hold are sold for good, put back on sale or taken off sale. One keeper per allocator, in the allocator's file. */
import type { OrderId, ReservationId, SkuKey } from '../../../domain/ids.js';
import type { Transaction } from '../transaction.js';

/** A unit that an order holds. */
export interface HeldUnit {
  readonly reservationId: ReservationId;
  readonly orderId: OrderId;
  readonly bucketNo: number;
  /** null where stock is a number. */
  readonly tokenId: string | null;
}

/** Values of the unit's ledger account before it came back. */
export interface AccountBefore {
  readonly beforeAvailable: number;
  readonly beforeAllocated: number;
}

/** Every call throws `LedgerAnomaly` when a unit is not held as told. All units of one call belong to one SKU and one bucket. */
export interface UnitKeeper {
  /** Paid: the unit stays with its order. */
  sell(transaction: Transaction, sku: SkuKey, units: readonly HeldUnit[]): Promise<void>;
  /** Free for others again; one account per unit, in the order given. */
  restock(transaction: Transaction, sku: SkuKey, units: readonly HeldUnit[]): Promise<readonly AccountBefore[]>;
  /** Off sale for good, without becoming available. */
  withdraw(transaction: Transaction, sku: SkuKey, units: readonly HeldUnit[]): Promise<void>;
}
