/**
 * What each store held when everything stood still, read on its own direct connection (DESIGN §7). Plain data; ids and int8 values are
 * strings, times are wall microseconds since the epoch unless the name says otherwise.
 */
import type { MessageId, OrderId, RequestId, ReservationId, UserId } from '../domain/ids.js';
import type { RedisRecordState } from '../domain/status-codes.js';

/** Evidence is there, or it is not and why. A judge that needs missing evidence says `unknown`. */
export type Evidence<T> = { readonly present: true; readonly value: T } | { readonly present: false; readonly reason: string };

// ---- Redis: every key under the hash tag ------------------------------------------------------------------------------------------------

export interface RedisRecord {
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly reservationId: ReservationId;
  readonly messageId: MessageId;
  readonly state: RedisRecordState;
  readonly payloadHash: string;
  readonly purchaseNo: number;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
  readonly orderId: OrderId | null;
  /** Why it ended, in the words of the event that ended it; null: it has not, or nobody said. */
  readonly reason: string | null;
  /** Version of the aggregate last applied by the projector; 0: none. */
  readonly appliedVersion: number;
  /** Its unit went back to the stock key. */
  readonly unitReturned: boolean;
}

export interface RedisFacts {
  /** Value of the stock key; null: the key is missing. */
  readonly stock: number | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly records: readonly RedisRecord[];
  readonly users: readonly { readonly userId: UserId; readonly requestId: RequestId }[];
  readonly pending: readonly RequestId[];
  /** Nonces of permits, by the book that the gateways share: who spent whose. */
  readonly permits: readonly { readonly userId: UserId; readonly nonce: string; readonly requestId: RequestId }[];
  /** Fields that could not be parsed, and keys under the prefix that nobody knows. */
  readonly problems: readonly string[];
  readonly runId: string;
}

// ---- Kafka: the topics read from the beginning ------------------------------------------------------------------------------------------

export interface OrderLogRecord {
  readonly partition: number;
  readonly offset: string;
  /** LogAppendTime, milliseconds. */
  readonly appendedAtMs: number;
  readonly messageId: MessageId;
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly skuId: string;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
}

export interface EventLogRecord {
  readonly partition: number;
  readonly offset: string;
  readonly appendedAtMs: number;
  readonly eventId: string;
  readonly type: string;
  readonly reservationId: ReservationId;
  readonly aggregateVersion: number;
  readonly orderId: OrderId | null;
  readonly reason: string | null;
  /** The projector has to put the unit back into Redis. */
  readonly returnsUnit: boolean;
}

/** A message that was given up on, as it lies in the dead-letter topic. */
export interface DeadLetterRecord {
  readonly partition: number;
  readonly offset: string;
  readonly appendedAtMs: number;
  readonly originTopic: string;
  readonly originPartition: number;
  readonly originOffset: string;
  /** Null where the message could not be read that far. */
  readonly messageId: MessageId | null;
  readonly reservationId: ReservationId | null;
  readonly cause: string;
  readonly attempts: number;
}

export interface TopicBounds {
  readonly partition: number;
  readonly beginOffset: string;
  readonly endOffset: string;
  /** Offset committed by the group; null: none. */
  readonly committedOffset: string | null;
}

export interface KafkaFacts {
  readonly orders: readonly OrderLogRecord[];
  readonly events: readonly EventLogRecord[];
  /** "This order's time is over", on the closes topic. */
  readonly closes: readonly EventLogRecord[];
  readonly deadLetters: readonly DeadLetterRecord[];
  /** Values that are no message of the schema: partition:offset and the problem. */
  readonly malformed: readonly { readonly topic: string; readonly partition: number; readonly offset: string; readonly problem: string }[];
  readonly ordersBounds: readonly TopicBounds[];
  readonly eventsBounds: readonly TopicBounds[];
  readonly closesBounds: readonly TopicBounds[];
  readonly deadLettersBounds: readonly TopicBounds[];
}

// ---- PostgreSQL: one REPEATABLE READ snapshot -------------------------------------------------------------------------------------------

export interface OrderRow {
  readonly orderId: OrderId;
  readonly requestId: RequestId;
  readonly reservationId: ReservationId;
  readonly sourceMessageId: MessageId;
  readonly userId: UserId;
  readonly skuId: string;
  readonly purchaseNo: number;
  readonly inventoryBucket: number;
  readonly inventoryTokenId: string | null;
  readonly status: number;
  readonly totalAmount: string;
  readonly currency: string;
  readonly version: number;
  /** An unpaid order may be closed from here on. */
  readonly expireAtUs: number;
  readonly paidAtUs: number | null;
  readonly cancelledAtUs: number | null;
  readonly cancelReason: string | null;
  readonly createdAtUs: number;
  /** `pg_xact_commit_timestamp(xmin)` of the row as it is now; null when not tracked. */
  readonly committedAtUs: number | null;
}

export interface ReservationRow {
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly firstMessageId: MessageId;
  readonly userId: UserId;
  readonly purchaseNo: number;
  readonly status: number;
  readonly orderId: OrderId | null;
  readonly failureCode: string | null;
  readonly version: number;
  readonly expiresAtUs: number;
  readonly committedAtUs: number | null;
}

export interface InventoryRow {
  readonly skuId: string;
  readonly bucketNo: number;
  readonly total: number;
  readonly available: number;
  readonly allocated: number;
}

export interface TokenRow {
  readonly tokenId: string;
  readonly skuId: string;
  readonly status: number;
  readonly reservationId: ReservationId | null;
}

export interface LedgerRow {
  readonly ledgerId: string;
  readonly idempotencyKey: string;
  readonly reservationId: ReservationId;
  readonly orderId: OrderId | null;
  readonly bucketNo: number;
  readonly inventoryTokenId: string | null;
  readonly type: number;
  readonly reason: string;
  readonly availableDelta: number;
  readonly allocatedDelta: number;
  readonly beforeAvailable: number;
  readonly afterAvailable: number;
  readonly beforeAllocated: number;
  readonly afterAllocated: number;
}

export interface InboxRow {
  readonly consumerGroup: string;
  readonly messageId: MessageId;
  readonly reservationId: ReservationId;
  readonly resultCode: string;
  readonly orderId: OrderId | null;
}

export interface OutboxRow {
  readonly eventId: string;
  readonly dedupKey: string;
  readonly aggregateId: ReservationId;
  readonly aggregateVersion: number;
  readonly type: string;
  readonly topic: string;
  readonly status: number;
  readonly retryCount: number;
  readonly availableAtUs: number;
  /** Moved out of the live table by retention; it counts as if it were there. */
  readonly archived: boolean;
}

export interface CompensationRow {
  readonly taskId: string;
  readonly idempotencyKey: string;
  readonly type: number;
  readonly reservationId: ReservationId | null;
  readonly orderId: OrderId | null;
  readonly status: number;
  readonly retryCount: number;
  readonly nextRunAtUs: number;
}

export interface PaymentRow {
  readonly paymentId: string;
  readonly orderId: OrderId;
  readonly status: number;
  readonly provider: string;
  /** The channel's number of the deal; null before the channel has answered. */
  readonly tradeNo: string | null;
  readonly callbackId: string | null;
  readonly amount: string;
  readonly currency: string;
  readonly paidAtUs: number | null;
  readonly createdAtUs: number;
  readonly version: number;
}

/** Money that fits no order: an unknown order, a wrong amount. */
export interface UnmatchedPaymentRow {
  readonly unmatchedId: string;
  readonly provider: string;
  readonly tradeNo: string;
  /** As the channel wrote it, which need not be an order id at all. */
  readonly claimedOrderId: string | null;
  readonly amount: string;
  readonly currency: string;
  readonly status: number;
  readonly reason: string;
}

/** What the undertaker made of a dead letter. */
export interface DeadLetterRow {
  readonly deadLetterId: string;
  readonly originTopic: string;
  readonly originPartition: number;
  readonly originOffset: string;
  readonly messageId: MessageId | null;
  readonly reservationId: ReservationId | null;
  readonly cause: string;
  readonly attempts: number;
  readonly status: number;
  /** How it was worked off; null: it is open. */
  readonly resolution: string | null;
}

export interface PostgresFacts {
  readonly orders: readonly OrderRow[];
  readonly reservations: readonly ReservationRow[];
  readonly inventory: readonly InventoryRow[];
  readonly tokens: readonly TokenRow[];
  readonly ledger: readonly LedgerRow[];
  readonly inbox: readonly InboxRow[];
  readonly outbox: readonly OutboxRow[];
  readonly compensations: readonly CompensationRow[];
  readonly payments: readonly PaymentRow[];
  readonly unmatchedPayments: readonly UnmatchedPaymentRow[];
  readonly deadLetters: readonly DeadLetterRow[];
  /** Count of order_items per order where it is not exactly one. */
  readonly itemMismatches: readonly { readonly orderId: OrderId; readonly items: number }[];
}

// ---- The commit log: logical decoding of everything since before the storm --------------------------------------------------------------

export interface RowChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** Columns of the new row (delete: of the key). Text as PostgreSQL prints it; null = SQL NULL; an unchanged TOAST value is absent. */
  readonly row: Readonly<Record<string, string | null>>;
}

export interface CommittedTransaction {
  readonly xid: number;
  readonly lsn: string;
  readonly committedAtUs: number;
  readonly changes: readonly RowChange[];
}

export interface CommitLogFacts {
  /** In commit order, from the making of the slot (after seeding) to the harvest. Tables: orders, inventory_reservation, sku_inventory, inventory_token, inventory_ledger, consumer_inbox, event_outbox, payment_record, and every other one of the database. */
  readonly transactions: readonly CommittedTransaction[];
}
