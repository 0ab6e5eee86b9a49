/**
 * `token`: every unit is a row, claimed with SKIP LOCKED, so that orders of one SKU never wait for each other (paper 000 §9.3).
 * Each unit is an account of its own in the ledger: available 1→0, allocated 0→1.
 */
import { LedgerAnomaly, UnitsLocked } from '../postgres-failure.js';
import type { Transaction } from '../transaction.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { AllocatedUnit, Allocator } from './allocator-port.js';
import type { HeldUnit, UnitKeeper } from './unit-keeper-port.js';

export const tokenAllocator: Allocator = {
  async allocate(transaction, sku, requests) {
    const orderIds = requests.map((request) => request.orderId);
    const claimed = await transaction.run<{ token_id: string; order_id: string }>('claim_tokens', [
      sku.activityId, sku.skuId, requests.map((request) => request.reservationId), orderIds,
    ]);
    if (claimed.count > requests.length) throw new LedgerAnomaly(`${String(claimed.count)} units claimed for ${String(requests.length)} orders`);
    if (claimed.count < requests.length) await refuseToGuess(transaction, sku, requests.length - claimed.count);
    if (claimed.count > 0) {
      const written = await transaction.run('set_order_tokens', [claimed.rows.map((row) => row.order_id), claimed.rows.map((row) => row.token_id)]);
      if (written.count !== claimed.count) throw new LedgerAnomaly(`${String(written.count)} orders took ${String(claimed.count)} claimed units`);
    }
    const tokenOf = new Map(claimed.rows.map((row) => [row.order_id, row.token_id]));
    return orderIds.map((orderId): AllocatedUnit | null => {
      const tokenId = tokenOf.get(orderId);
      return tokenId === undefined ? null : { bucketNo: 0, tokenId, beforeAvailable: 1, beforeAllocated: 0 };
    });
  },
};

/** A short claim is "sold out" only when no unit is free in any committed state; one that others hold locked may come back. */
async function refuseToGuess(transaction: Transaction, sku: SkuKey, missing: number): Promise<void> {
  const answer = await transaction.run<{ any_free: boolean }>('any_free_token', [sku.activityId, sku.skuId]);
  if (answer.rows[0]?.any_free !== false) throw new UnitsLocked(`${String(missing)} units short, while others hold free units of SKU ${sku.skuId} locked`);
}

export const tokenKeeper: UnitKeeper = {
  sell: (transaction, _sku, units) => move(transaction, 'sell_tokens', units),
  withdraw: (transaction, _sku, units) => move(transaction, 'withdraw_tokens', units),
  async restock(transaction, _sku, units) {
    await move(transaction, 'restock_tokens', units);
    return units.map(() => ({ beforeAvailable: 0, beforeAllocated: 1 }));
  },
};

async function move(transaction: Transaction, statement: 'sell_tokens' | 'withdraw_tokens' | 'restock_tokens', units: readonly HeldUnit[]): Promise<void> {
  if (units.length === 0) return;
  const moved = await transaction.run(statement, [units.map((unit) => unit.tokenId), units.map((unit) => unit.reservationId)]);
  if (moved.count !== units.length) throw new LedgerAnomaly(`${statement} met ${String(moved.count)} of ${String(units.length)} held units`);
}
