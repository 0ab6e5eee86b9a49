/**
 * The keys of one SKU. All share the hash tag `{activity:sku}`, so that one script may touch them all in a cluster (CASES C6), and
 * all are declared in KEYS.
 */
import type { ActivityId, SkuKey } from '../../domain/ids.js';

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
  /** Hash: adjustment id → what it changed. Made by the first repair. */
  readonly adjustments: string;
}

/** Where a rebuild writes before it takes the place of the live keys. */
export interface RebuildKeys {
  readonly requests: string;
  readonly users: string;
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
    adjustments: `${tagged}adjustments`,
  };
}

/** Of all keys that `permitsKey` makes for a SKU. */
export function permitsPrefix(redisPrefix: string, sku: SkuKey): string {
  return `${redisPrefix}seckill:{${sku.activityId}:${sku.skuId}}:permits:`;
}

/** Hash: "user:nonce" → request id, of the permits of a SKU that end in one span of time. */
export function permitsKey(redisPrefix: string, sku: SkuKey, span: number): string {
  return `${permitsPrefix(redisPrefix, sku)}${String(span)}`;
}

/** Hash: user or device → its unpaid holds, over all SKUs of an activity, and so under a hash tag of its own. */
export function holdsKey(redisPrefix: string, activityId: ActivityId): string {
  return `${redisPrefix}seckill:{${activityId}}:holds`;
}

/** Under the same hash tag as the keys whose place they take. */
export function rebuildKeys(live: StockKeys): RebuildKeys {
  return { requests: `${live.requests}:rebuilt`, users: `${live.users}:rebuilt`, pending: `${live.pending}:rebuilt` };
}
