/** Puts one activity with one SKU and its stock into a migrated database. */
import type { ClientBase } from 'pg';

import type { ActivityId, SkuId } from '../../domain/ids.js';
import { loadStatements } from './sql-loader.js';

export interface ActivitySeed {
  readonly activityId: ActivityId;
  /** Decimal int8, as in every message of the activity. */
  readonly version: string;
  readonly startAtMs: number;
  readonly endAtMs: number;
  readonly skuId: SkuId;
  readonly stock: number;
  /** In the smallest unit of the currency, decimal int8. */
  readonly unitPrice: string;
  readonly currency: string;
  /** Stored as JSON. */
  readonly rules: object;
  /** Rows the stock is split over; 1 where the allocator does not use buckets. */
  readonly bucketCount: number;
}

/**
 * Activity OPEN, SKU ON_SALE, inventory rows and one token per unit, in one transaction; statistics are fresh afterwards. The stock exists
 * twice, as rows and as tokens, since the allocator of the run decides which of the two counts. A million tokens take some seconds, so
 * `client` must not have a short statement timeout.
 */
export async function seedActivity(client: ClientBase, seed: ActivitySeed): Promise<void> {
  const statements = loadStatements();
  const { activityId, skuId, stock, bucketCount } = seed;
  await client.query('BEGIN');
  try {
    await client.query({ ...statements.seed_activity, values: [activityId, seed.version, seed.startAtMs, seed.endAtMs, JSON.stringify(seed.rules)] });
    await client.query({ ...statements.seed_sku, values: [activityId, skuId, seed.unitPrice, seed.currency, stock, bucketCount] });
    await client.query({ ...statements.seed_inventory, values: [activityId, skuId, stock, bucketCount] });
    await client.query({ ...statements.seed_tokens, values: [activityId, skuId, stock] });
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await client.query('ANALYZE inventory_token, sku_inventory, seckill_sku, seckill_activity');
}
