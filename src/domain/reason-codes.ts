/**
 * Every reason and result code of the system, in one closed list shared by TypeScript, SQL and Lua.
 */

/** First element of each decision of `lua/reserve_batch-*.lua`. */
export const ReserveCode = {
  RESERVED: 'RESERVED',
  REPEATED: 'REPEATED',
  IDEMPOTENCY_CONFLICT: 'IDEMPOTENCY_CONFLICT',
  USER_HAS_ONE: 'USER_HAS_ONE',
  SOLD_OUT: 'SOLD_OUT',
  /** The stock or meta key is missing: fail closed, never SOLD_OUT (CASES C8). */
  NOT_READY: 'NOT_READY',
  /** The Redis holds another epoch than the connection knows (DESIGN §4). */
  EPOCH_MISMATCH: 'EPOCH_MISMATCH',
  /** The SKU is being rebuilt, or what is left of its stock is still held back after a rebuild: neither sold out nor broken. */
  PAUSED: 'PAUSED',
} as const;
export type ReserveCode = (typeof ReserveCode)[keyof typeof ReserveCode];

/** `code` of every answer of the gateway. With the HTTP status in `answerHttpStatus`. */
export const AnswerCode = {
  /** Reserved and handed to the broker. 202. */
  QUEUED: 'QUEUED',
  /** Reserved; the hand-off is not confirmed and the scanner will finish it. 202. */
  QUEUED_PENDING_MESSAGE: 'QUEUED_PENDING_MESSAGE',
  /** An order exists. 200. */
  ORDERED: 'ORDERED',
  /** The reservation was refused durably. 200 on a query or repeat. */
  REJECTED: 'REJECTED',
  /** The reservation ended and its unit was given back. 200 on a query or repeat. */
  RELEASED: 'RELEASED',
  /** A query found nothing that it may show: says nothing about the outcome and never invites to buy again. 404. */
  NOT_FOUND_YET: 'NOT_FOUND_YET',
  IDEMPOTENCY_CONFLICT: 'IDEMPOTENCY_CONFLICT',
  USER_HAS_ONE: 'USER_HAS_ONE',
  SOLD_OUT: 'SOLD_OUT',
  NOT_STARTED: 'NOT_STARTED',
  ENDED: 'ENDED',
  LIMITED: 'LIMITED',
  /** Surely nothing was reserved. 503. */
  UNAVAILABLE: 'UNAVAILABLE',
  /** The reserve call may or may not have happened. 503 with a Location. */
  RESULT_UNKNOWN: 'RESULT_UNKNOWN',
  INVALID: 'INVALID',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  /** This Redis is not the one that was warmed up; reservations wait for a rebuild. 503. */
  PAUSED: 'PAUSED',
  /** What is under way is as much as the consumers can do in time. 429. */
  QUEUE_FULL: 'QUEUE_FULL',
  /** Nothing left now; units may still come back. 410, `Retry-After` short. */
  TEMP_SOLD_OUT: 'TEMP_SOLD_OUT',
  /** Nothing left, and no unit can come back. 410, `Retry-After` long. */
  FINAL_SOLD_OUT: 'FINAL_SOLD_OUT',
  /** No permit, or one that is forged, expired, somebody else's or spent. 403. */
  PERMIT_INVALID: 'PERMIT_INVALID',
  /** This user or device holds as many unpaid units as it may. 429. */
  HOLD_LIMIT: 'HOLD_LIMIT',
} as const;
export type AnswerCode = (typeof AnswerCode)[keyof typeof AnswerCode];

/** Fixed small numbers of the answer codes for the binary history. Append only. */
export const ANSWER_CODES_BY_NUMBER: readonly AnswerCode[] = [
  'QUEUED', 'QUEUED_PENDING_MESSAGE', 'ORDERED', 'REJECTED', 'RELEASED', 'NOT_FOUND_YET', 'IDEMPOTENCY_CONFLICT', 'USER_HAS_ONE',
  'SOLD_OUT', 'NOT_STARTED', 'ENDED', 'LIMITED', 'UNAVAILABLE', 'RESULT_UNKNOWN', 'INVALID', 'FORBIDDEN', 'NOT_FOUND',
  'PAUSED', 'QUEUE_FULL', 'TEMP_SOLD_OUT', 'FINAL_SOLD_OUT', 'PERMIT_INVALID', 'HOLD_LIMIT',
];

/** `result_code` of an Inbox row, and `failure_code` of a refused reservation. */
export const OrderResult = {
  ORDER_CREATED: 'ORDER_CREATED',
  /** Another message of the same reservation had been finished before (`001` §7.3). */
  ALREADY_ORDERED: 'ALREADY_ORDERED',
  /** The reservation had been closed durably before the message came. */
  ALREADY_CLOSED: 'ALREADY_CLOSED',
  REJECTED_NO_FINAL_STOCK: 'REJECTED_NO_FINAL_STOCK',
  REJECTED_DUPLICATE_USER: 'REJECTED_DUPLICATE_USER',
  REJECTED_DUPLICATE_REQUEST: 'REJECTED_DUPLICATE_REQUEST',
  REJECTED_EXPIRED: 'REJECTED_EXPIRED',
  REJECTED_ACTIVITY_VERSION: 'REJECTED_ACTIVITY_VERSION',
  REJECTED_ACTIVITY_STOPPED: 'REJECTED_ACTIVITY_STOPPED',
  /** The database refuses to make this order for a cause that trying again does not mend. */
  REJECTED_UNPROCESSABLE: 'REJECTED_UNPROCESSABLE',
  /** Nobody could tell its end in time, and a human has ended it. */
  REJECTED_BY_HAND: 'REJECTED_BY_HAND',
} as const;
export type OrderResult = (typeof OrderResult)[keyof typeof OrderResult];

/** `reason` of a ledger entry, `cancel_reason` of an order. */
export const LedgerReason = {
  ORDER_CREATED: 'ORDER_CREATED',
  PAY_TIMEOUT: 'PAY_TIMEOUT',
  USER_CANCELLED: 'USER_CANCELLED',
  PAID: 'PAID',
  REFUNDED: 'REFUNDED',
  RECONCILED: 'RECONCILED',
} as const;
export type LedgerReason = (typeof LedgerReason)[keyof typeof LedgerReason];

/** `tag` of an Outbox row and `type` of an event on the events topic. */
export const EventType = {
  ORDER_CREATED: 'ORDER_CREATED',
  RESERVATION_REJECTED: 'RESERVATION_REJECTED',
  RESERVATION_RELEASED: 'RESERVATION_RELEASED',
  ORDER_PAID: 'ORDER_PAID',
  ORDER_CANCELLED: 'ORDER_CANCELLED',
  ORDER_CLOSE_DUE: 'ORDER_CLOSE_DUE',
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];

/** How a send to the broker ended (LIBRARIES §1.5). */
export type SendOutcome = 'sent' | 'surely-not-sent' | 'unknown';

/** How a Redis call ended. */
export type CallOutcome = 'done' | 'surely-not-done' | 'unknown';
