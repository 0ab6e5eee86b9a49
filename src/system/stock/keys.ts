/**
 * The five keys of one SKU. All share the hash tag `{activity:sku}`, so that one script may touch them all in a cluster (CASES C6), and
 * all are declared in KEYS.
 */
import type { SkuKey } from '../../domain/ids.js';

export interface StockKeys {
  /** String: units that can still be reserved. */
  readonly stock: string;
  /** Hash: epoch, run id, status, times, price. */
  readonly meta: string;
  /** Hash: request id → packed record (`record-codec.ts`). */
  readonly requests: string;
  /** Hash: user id → request id. */
  readonly users: string;
  /** Sorted set: request id by due time in ms of the server's clock. */
  readonly pending: string;
}

/** Keys of a SKU under a namespace's `redisPrefix` (which ends with `:`). */
export function stockKeys(redisPrefix: string, sku: SkuKey): StockKeys {
  const tagged = `${redisPrefix}seckill:{${sku.activityId}:${sku.skuId}}:`;
  return {
    stock: `${tagged}stock`,
    meta: `${tagged}meta`,
    requests: `${tagged}requests`,
    users: `${tagged}users`,
    pending: `${tagged}pending`,
  };
}
