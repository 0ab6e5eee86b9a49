/**
 * Every status value of the system, in one closed list shared by TypeScript, SQL and Lua.
 * `sql/migrations` repeats the numbers in CHECK constraints and `lua/` repeats the names; `test/status-codes.test.ts` compares them.
 * Order, reservation and Outbox values are those of paper `001` §8.1; the rest closes what the paper leaves open.
 */

/** Paper `001` §8.1. */
export const OrderStatus = {
  CREATED: 10,
  PAYING: 20,
  PAID: 30,
  CANCELLED: 40,
  CLOSED: 50,
  REFUND_PENDING: 60,
} as const;
export type OrderStatus = (typeof OrderStatus)[keyof typeof OrderStatus];

/** Paper `001` §8.1: state of a row of `inventory_reservation`. */
export const ReservationStatus = {
  PENDING_DB: 0,
  ORDERED: 10,
  REJECTED: 20,
  RELEASE_PENDING: 30,
  RELEASED: 40,
  EXPIRED: 50,
  MANUAL_REQUIRED: 60,
} as const;
export type ReservationStatus = (typeof ReservationStatus)[keyof typeof ReservationStatus];

/** Paper `001` §8.1. */
export const OutboxStatus = { PENDING: 0, SENDING: 10, SENT: 20, RETRY: 30, DEAD: 40 } as const;
export type OutboxStatus = (typeof OutboxStatus)[keyof typeof OutboxStatus];

/** Only a finished message has an Inbox row (`001` §8.2, `ck_inbox_status`). */
export const InboxStatus = { PROCESSED: 20 } as const;
export type InboxStatus = (typeof InboxStatus)[keyof typeof InboxStatus];

/** CLAIMED = held unpaid, SOLD = paid, back to AVAILABLE = resold, RELEASED = withdrawn from sale (DESIGN §4). */
export const TokenStatus = { AVAILABLE: 0, CLAIMED: 10, SOLD: 20, RELEASED: 30 } as const;
export type TokenStatus = (typeof TokenStatus)[keyof typeof TokenStatus];

/** ALLOCATE takes a unit, RELEASE gives it back, SOLD marks it paid (no delta), ADJUST is a repair with its own id. */
export const LedgerType = { ALLOCATE: 10, RELEASE: 20, SOLD: 30, ADJUST: 40 } as const;
export type LedgerType = (typeof LedgerType)[keyof typeof LedgerType];

/** State of one payment attempt. UNKNOWN waits for a query at the channel. */
export const PaymentStatus = { CREATED: 0, UNKNOWN: 10, SUCCEEDED: 20, FAILED: 30, REFUND_PENDING: 40, REFUNDED: 50 } as const;
export type PaymentStatus = (typeof PaymentStatus)[keyof typeof PaymentStatus];

export const CompensationType = { RELEASE_REDIS: 10, REFUND: 20, RESEND_MESSAGE: 30, REBUILD_PROJECTION: 40 } as const;
export type CompensationType = (typeof CompensationType)[keyof typeof CompensationType];

export const CompensationStatus = { PENDING: 0, RUNNING: 10, DONE: 20, RETRY: 30, DEAD: 40, CANCELLED: 50 } as const;
export type CompensationStatus = (typeof CompensationStatus)[keyof typeof CompensationStatus];

export const ActivityStatus = { DRAFT: 0, WARMED: 10, OPEN: 20, STOPPED: 30, ENDED: 40 } as const;
export type ActivityStatus = (typeof ActivityStatus)[keyof typeof ActivityStatus];

export const SkuStatus = { ON_SALE: 10, PAUSED: 20, SOLD_OUT: 30, WITHDRAWN: 40 } as const;
export type SkuStatus = (typeof SkuStatus)[keyof typeof SkuStatus];

/** Money that fits no order; a human or the reconciler closes it. */
export const UnmatchedPaymentStatus = { OPEN: 0, MATCHED: 10, REFUNDED: 20 } as const;
export type UnmatchedPaymentStatus = (typeof UnmatchedPaymentStatus)[keyof typeof UnmatchedPaymentStatus];

/** REPLAYED: sent again on somebody's word. CLOSED: its reservation was ended, or it never had one and needs nothing. */
export const DeadLetterStatus = { OPEN: 0, REPLAYED: 10, CLOSED: 20 } as const;
export type DeadLetterStatus = (typeof DeadLetterStatus)[keyof typeof DeadLetterStatus];

/**
 * State letter of a record in the Redis `requests` hash. PENDING: reserved, hand-off not confirmed; SENT: the broker confirmed
 * (an observation only, `000` §8.2); the last three are written by the projector.
 */
export const RedisRecordState = { PENDING: 'P', SENT: 'S', ORDERED: 'O', REJECTED: 'R', RELEASED: 'L' } as const;
export type RedisRecordState = (typeof RedisRecordState)[keyof typeof RedisRecordState];
