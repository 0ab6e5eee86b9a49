/** Rows as pg gives them → plain values of the durable ledger. int8, sums and counts come as strings: 9 + 1 is 10 and not "91" (CASES C35). */
import { ActivityStatus, SkuStatus } from '../../domain/status-codes.js';
import type { DurableReservation, DurableSku } from '../recovery/reconciliation-ledgers.js';

export interface ReservationRow {
  readonly reservation_id: string;
  readonly request_id: string;
  readonly first_message_id: string;
  readonly user_id: string;
  readonly purchase_no: number;
  readonly status: number;
  readonly order_id: string | null;
  readonly version: string;
  readonly reason: string | null;
  readonly payload_hash: string | null;
  readonly reserved_at_ms: string;
  readonly expires_at_ms: string;
  readonly changed_at_ms: string;
  readonly has_unsent_event: boolean;
  readonly has_release: boolean;
}

export interface SkuRow {
  readonly activity_version: string;
  readonly activity_status: number;
  readonly sku_status: number;
  readonly unit_price: string;
  readonly currency: string;
  readonly planned_stock: number;
  readonly start_at_ms: string;
  readonly end_at_ms: string;
  readonly rebuy_after_cancel: boolean;
  readonly row_available: string;
  readonly row_allocated: string;
  readonly token_available: string;
  readonly token_allocated: string;
}

export function reservationOf(row: ReservationRow): DurableReservation {
  return {
    reservationId: row.reservation_id,
    requestId: row.request_id,
    messageId: row.first_message_id,
    userId: row.user_id,
    purchaseNo: row.purchase_no,
    status: row.status,
    orderId: row.order_id,
    reason: row.reason,
    version: Number(row.version),
    payloadHash: row.payload_hash,
    reservedAtMs: Number(row.reserved_at_ms),
    expiresAtMs: Number(row.expires_at_ms),
    changedAtMs: Number(row.changed_at_ms),
    hasUnsentEvent: row.has_unsent_event,
    hasRelease: row.has_release,
  };
}

export function skuOf(row: SkuRow, allocator: string): DurableSku {
  const byToken = allocator === 'token';
  return {
    activityVersion: row.activity_version,
    startAtMs: Number(row.start_at_ms),
    endAtMs: Number(row.end_at_ms),
    unitPrice: row.unit_price,
    currency: row.currency,
    isOnSale: row.activity_status === ActivityStatus.OPEN && row.sku_status === SkuStatus.ON_SALE,
    rebuyAfterCancel: row.rebuy_after_cancel,
    plannedStock: row.planned_stock,
    available: Number(byToken ? row.token_available : row.row_available),
    allocated: Number(byToken ? row.token_allocated : row.row_allocated),
  };
}
