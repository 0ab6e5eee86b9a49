/**
 * `row`: stock is a number in one row, taken by a conditional UPDATE (paper 001 §9.4). Every order of the SKU queues for that row, from the
 * UPDATE to the COMMIT; a batch queues once for all its orders.
 */
import { LedgerAnomaly } from '../postgres-failure.js';
import type { Transaction } from '../transaction.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { AllocatedUnit, Allocator, UnitRequest } from './allocator-port.js';
import type { UnitKeeper } from './unit-keeper-port.js';

/** Messages carry no bucket yet: all of a SKU's stock is in bucket 0. */
const BUCKET = 0;

export const rowAllocator: Allocator = {
  async allocate(transaction, sku, requests) {
    const taken = await takeAsManyAsThereAre(transaction, sku, requests.length);
    return requests.map((_request: UnitRequest, place): AllocatedUnit | null => {
      if (taken === null || place >= taken.units) return null;
      // Running values: entry k of the batch starts where entry k-1 ended.
      return {
        bucketNo: BUCKET,
        tokenId: null,
        beforeAvailable: taken.afterAvailable + taken.units - place,
        beforeAllocated: taken.afterAllocated - taken.units + place,
      };
    });
  },
};

interface Taken {
  readonly units: number;
  readonly afterAvailable: number;
  readonly afterAllocated: number;
}

async function takeAsManyAsThereAre(transaction: Transaction, sku: SkuKey, wanted: number): Promise<Taken | null> {
  const all = await take(transaction, sku, wanted);
  if (all !== null) return all;
  // Fewer are left than the batch wants: lock the row, see how many, take exactly those.
  const key = [sku.activityId, sku.skuId, BUCKET];
  const left = (await transaction.run<{ available_stock: number }>('lock_row_stock', key)).rows[0]?.available_stock ?? 0;
  if (left === 0) return null;
  const some = await take(transaction, sku, Math.min(left, wanted));
  if (some === null) throw new LedgerAnomaly(`SKU ${sku.skuId} had ${String(left)} units under lock and gave none`);
  return some;
}

async function take(transaction: Transaction, sku: SkuKey, units: number): Promise<Taken | null> {
  const values = [sku.activityId, sku.skuId, BUCKET, units];
  const row = (await transaction.run<{ after_available: number; after_allocated: number }>('allocate_row_stock', values)).rows[0];
  return row === undefined ? null : { units, afterAvailable: row.after_available, afterAllocated: row.after_allocated };
}

/** A paid unit stays `allocated`, and so does a withdrawn one: it leaves the sale by never coming back. */
export const rowKeeper: UnitKeeper = {
  sell: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
  async restock(transaction, sku, units) {
    const [first] = units;
    if (first === undefined) return [];
    const values = [sku.activityId, sku.skuId, first.bucketNo, units.length];
    const row = (await transaction.run<{ after_available: number; after_allocated: number }>('release_row_stock', values)).rows[0];
    if (row === undefined) throw new LedgerAnomaly(`bucket ${String(first.bucketNo)} of SKU ${sku.skuId} has fewer than ${String(units.length)} units allocated`);
    return units.map((_unit, place) => ({
      beforeAvailable: row.after_available - units.length + place,
      beforeAllocated: row.after_allocated + units.length - place,
    }));
  },
};
