/**
 * The HTTP contract of the role `payment`. Every body is one JSON object with `Content-Length`; every answer is a `PaymentAnswer`, fields in
 * this order. A request of a user carries `X-User-Id` (decimal int8); callbacks of the channel carry none. Request bodies ≤ 4 KiB.
 *
 *   POST /v1/orders/:orderId/payments     body `{"provider":"fake"}`   start paying: the order becomes PAYING
 *       201 PAYING             a new payment; `paymentId` is what the channel is told, `amount` and `currency` are what it has to collect
 *       200 PAYING             the payment that is open already (a repeat)
 *       409 ORDER_PAID · 409 ORDER_ENDED (cancelled, closed, being refunded, or its time is over)
 *   POST /v1/orders/:orderId/cancel       body ignored                 by the order's user, while it is not paid
 *       200 CANCELLED          also for a repeat and for an order that had timed out (`reason` tells which)
 *       409 ORDER_PAID · 409 ORDER_ENDED (closed or being refunded)
 *   POST /v1/orders/:orderId/refund       body ignored                 by the order's user, of a paid order
 *       202 REFUND_PENDING     also for a repeat; 200 REFUNDED once the money is back
 *       409 NOT_PAID
 *   GET  /v1/orders/:orderId               the durable state: 200 ORDER
 *   POST /v1/payments/callbacks           body `PaymentCallback`       from the channel; any number of times, in any order
 *       200 PAID               the order is paid by this trade (`repeated` tells whether it was before)
 *       200 REFUND_PENDING     the money came after the order's end, or a second time: it goes back. 200 REFUNDED: it went back
 *       200 UNMATCHED          unknown order, wrong amount or currency, or a trade of another order: kept as `unmatched_payment`, never PAID
 *       200 FAILED · 200 UNKNOWN   the payment is marked so; the order stays as it is
 *       200 CONTRADICTION      it says the opposite of what the channel said before: kept as evidence, undoes nothing
 *
 *   Of a user's request: 400 INVALID (`problems`) · 403 FORBIDDEN (another user's order) · 404 NOT_FOUND. Of a callback: 400 INVALID · 401 BAD_SIGNATURE.
 *   Always: 503 TRY_AGAIN, with `Retry-After`: it may or may not have been done (PostgreSQL away, or COMMIT without an answer). The same request again
 *   tells, and does nothing twice: the channel has to repeat its callback.
 *
 * A callback answered 2xx is durable and must not be repeated (but may be). A repeat has the same `provider` and `callbackId`, or the same
 * `provider` and `tradeNo`; one trade number is one movement of money.
 */
import type { OrderId } from './ids.js';

export const PAYMENT_CALLBACKS_PATH = '/v1/payments/callbacks';

export function paymentsPath(orderId: OrderId): string {
  return `/v1/orders/${orderId}/payments`;
}

export function cancelPath(orderId: OrderId): string {
  return `/v1/orders/${orderId}/cancel`;
}

export function refundPath(orderId: OrderId): string {
  return `/v1/orders/${orderId}/refund`;
}

export function orderPath(orderId: OrderId): string {
  return `/v1/orders/${orderId}`;
}

/** What the channel says of a trade. PENDING: not decided yet. */
export const CALLBACK_STATUSES = ['SUCCEEDED', 'FAILED', 'PENDING'] as const;
export type CallbackStatus = (typeof CALLBACK_STATUSES)[number];

export interface PaymentCallback {
  /** 1–32 of `A-Za-z0-9_.-`. */
  readonly provider: string;
  /** 1–128 of `A-Za-z0-9_.:-`, unique per provider and event: a repeat of the same event has the same. */
  readonly callbackId: string;
  /** 1–128 of `A-Za-z0-9_.:-`, unique per provider and movement of money. */
  readonly tradeNo: string;
  /** 1–64 characters; need not be an order of ours. */
  readonly orderId: string;
  /** Our `paymentId`, where the channel knows it; absent or null: the order's open payment is meant. */
  readonly paymentId?: string | null;
  /** In the smallest unit of the currency: a whole number, 0…2^53−1. */
  readonly amount: number;
  /** Three capital letters. */
  readonly currency: string;
  readonly status: CallbackStatus;
  /** Hex HMAC-SHA256 of `signedText` under the shared secret; needed where `tuning.paymentCallbackSecret` is set. */
  readonly signature?: string;
}

/** What the signature of a callback covers. */
export function signedText(callback: Omit<PaymentCallback, 'signature'>): string {
  const { provider, callbackId, tradeNo, orderId, paymentId, amount, currency, status } = callback;
  return [provider, callbackId, tradeNo, orderId, paymentId ?? '', String(amount), currency, status].join('\n');
}

export const PAYMENT_CODES = [
  'PAYING', 'PAID', 'CANCELLED', 'REFUND_PENDING', 'REFUNDED', 'ORDER', 'UNMATCHED', 'FAILED', 'UNKNOWN', 'CONTRADICTION',
  'ORDER_PAID', 'ORDER_ENDED', 'NOT_PAID', 'INVALID', 'BAD_SIGNATURE', 'FORBIDDEN', 'NOT_FOUND', 'TRY_AGAIN',
] as const;
export type PaymentCode = (typeof PAYMENT_CODES)[number];

export interface PaymentAnswer {
  readonly code: PaymentCode;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  /** `OrderStatus` after the request, as far as it is known. */
  readonly orderStatus: number | null;
  /** In the smallest unit, as a decimal string; with `PAYING` and `ORDER`. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** `cancel_reason` of a cancelled order; why a callback is UNMATCHED: UNKNOWN_ORDER, AMOUNT_MISMATCH, CURRENCY_MISMATCH, TRADE_OF_ANOTHER_ORDER. */
  readonly reason: string | null;
  /** It had been done before this request. */
  readonly repeated: boolean;
  /** INVALID: every problem found. */
  readonly problems: readonly string[];
}

/** The status of an answer; `PAYING` and `REFUND_PENDING` differ by request (see above). */
export const PAYMENT_HTTP_STATUS: Readonly<Record<PaymentCode, number>> = {
  PAYING: 201,
  PAID: 200,
  CANCELLED: 200,
  REFUND_PENDING: 200,
  REFUNDED: 200,
  ORDER: 200,
  UNMATCHED: 200,
  FAILED: 200,
  UNKNOWN: 200,
  CONTRADICTION: 200,
  ORDER_PAID: 409,
  ORDER_ENDED: 409,
  NOT_PAID: 409,
  INVALID: 400,
  BAD_SIGNATURE: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  TRY_AGAIN: 503,
};
