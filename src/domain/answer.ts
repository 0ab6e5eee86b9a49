/**
 * The gateway's HTTP contract.
 *
 * `POST /v1/activities/:activityId/skus/:skuId/reservations`, headers `Idempotency-Key` (the request id) and `X-User-Id`, body
 * `{"quantity":1}` with an optional `"clientTag"` (≤ 64 characters, part of the payload). `GET` of the answer's `Location`, header `X-User-Id`.
 * Optional headers of the POST: `X-Permit` (needed where the permit layer is on, see permit.ts) and `X-Device-Id`.
 * `GET /v1/activities/:activityId/skus/:skuId/state` answers a `SkuState`, from the gateway's memory.
 * Every answer is one JSON object of this shape, fields in this order, with `Content-Length`.
 */
import type { EntryState } from './funnel.js';
import type { OrderId, RequestId, ReservationId } from './ids.js';
import type { AnswerCode } from './reason-codes.js';

export interface Answer {
  readonly code: AnswerCode;
  readonly requestId: RequestId | null;
  readonly reservationId: ReservationId | null;
  readonly orderId: OrderId | null;
  /** Why a reservation was refused or ended: `OrderResult` or `LedgerReason`. */
  readonly reason: string | null;
  /** INVALID: every problem found. Else empty. */
  readonly problems: readonly string[];
  /** When a poll or another try makes sense. Also sent as `Retry-After` in whole seconds, rounded up. */
  readonly retryAfterMs: number | null;
}

/** The status of a first POST. A repeat of an accepted request answers 200 with its current state. */
export const HTTP_STATUS_OF: Readonly<Record<AnswerCode, number>> = {
  QUEUED: 202,
  QUEUED_PENDING_MESSAGE: 202,
  ORDERED: 200,
  REJECTED: 200,
  RELEASED: 200,
  NOT_FOUND_YET: 404,
  IDEMPOTENCY_CONFLICT: 409,
  USER_HAS_ONE: 409,
  SOLD_OUT: 410,
  NOT_STARTED: 425,
  ENDED: 403,
  LIMITED: 429,
  UNAVAILABLE: 503,
  RESULT_UNKNOWN: 503,
  INVALID: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  PAUSED: 503,
  QUEUE_FULL: 429,
  TEMP_SOLD_OUT: 410,
  FINAL_SOLD_OUT: 410,
  PERMIT_INVALID: 403,
  HOLD_LIMIT: 429,
};

/** What a page may show of a SKU. Coarse on purpose: an exact number would be wrong before it is read (paper `004` §7). */
export interface SkuState {
  readonly state: EntryState;
  /** Of the configuration that the gateway decides by; null: not loaded yet. */
  readonly activityVersion: string | null;
  /** How long the state may be shown. Also sent as `Cache-Control: max-age` in whole seconds, rounded down. */
  readonly validForMs: number;
}

export function skuStatePath(activityId: string, skuId: string): string {
  return `/v1/activities/${activityId}/skus/${skuId}/state`;
}

export function reservationsPath(activityId: string, skuId: string): string {
  return `/v1/activities/${activityId}/skus/${skuId}/reservations`;
}

export function requestLocation(activityId: string, skuId: string, requestId: RequestId): string {
  return `/v1/activities/${activityId}/skus/${skuId}/requests/${requestId}`;
}
