/** The terms of sale as they are while the transaction runs: price, title, version, and whether the sale goes on. */
import type { SkuKey } from '../../domain/ids.js';
import { skuKeyText } from './order-work.js';
import type { Transaction } from './transaction.js';

export interface SkuTerms {
  readonly activityStatus: number;
  readonly activityVersion: string;
  readonly skuStatus: number;
  readonly unitPrice: string;
  readonly currency: string;
  readonly title: string;
  /** A user whose purchases have all ended may buy again. */
  readonly rebuyAfterCancel: boolean;
}

interface Row {
  readonly activity_id: string;
  readonly sku_id: string;
  readonly activity_status: number;
  readonly activity_version: string;
  readonly sku_status: number;
  readonly unit_price: string;
  readonly currency: string;
  readonly sku_title: string;
  readonly rebuy_after_cancel: boolean;
}

/** Terms by `skuKeyText`; a SKU that PostgreSQL does not know is absent. */
export async function loadSkuTerms(transaction: Transaction, skus: readonly SkuKey[]): Promise<ReadonlyMap<string, SkuTerms>> {
  const unique = [...new Map(skus.map((sku) => [skuKeyText(sku), sku])).values()];
  const found = await transaction.run<Row>('load_sku_terms', [unique.map((sku) => sku.activityId), unique.map((sku) => sku.skuId)]);
  return new Map(found.rows.map((row) => [skuKeyText({ activityId: row.activity_id, skuId: row.sku_id }), {
    activityStatus: row.activity_status,
    activityVersion: row.activity_version,
    skuStatus: row.sku_status,
    unitPrice: row.unit_price,
    currency: row.currency,
    title: row.sku_title,
    rebuyAfterCancel: row.rebuy_after_cancel,
  }]));
}
