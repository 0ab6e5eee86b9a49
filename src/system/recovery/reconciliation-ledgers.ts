/** The three ledgers as one look of the reconciler sees them. Plain data, so that finding differences and planning a rebuild are pure. */
import type { MessageId, OrderId, RequestId, ReservationId, UserId } from '../../domain/ids.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { MirrorContents } from '../stock/mirror.js';

/** A reservation as PostgreSQL knows it. */
export interface DurableReservation {
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly messageId: MessageId;
  readonly userId: UserId;
  readonly purchaseNo: number;
  readonly status: number;
  readonly orderId: OrderId | null;
  /** Why it ended, where it has. */
  readonly reason: string | null;
  readonly version: number;
  /** From the Inbox; null where the message has no row there (closed without a message, or retention took it). */
  readonly payloadHash: string | null;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
  /** When the row last changed, by PostgreSQL's clock. */
  readonly changedAtMs: number;
  /** An event of it has not been sent. */
  readonly hasUnsentEvent: boolean;
  /** The ledger has a RELEASE entry: the unit of its order went back on sale. */
  readonly hasRelease: boolean;
}

/** Terms and rules of the SKU, and its stock in PostgreSQL. Counts were summed by the server and are numbers here (CASES C35). */
export interface DurableSku {
  readonly activityVersion: string;
  readonly startAtMs: number;
  readonly endAtMs: number;
  readonly unitPrice: string;
  readonly currency: string;
  /** The activity is open and the SKU on sale. */
  readonly isOnSale: boolean;
  readonly rebuyAfterCancel: boolean;
  readonly plannedStock: number;
  /** Units that the allocator could still give out. */
  readonly available: number;
  /** Units that it has given out and not got back: held, and withdrawn from sale. */
  readonly allocated: number;
}

/** One snapshot. */
export interface DurableLedger {
  readonly sku: DurableSku;
  readonly reservations: readonly DurableReservation[];
}

export interface SeenMessage {
  readonly message: OrderMessage;
  readonly partition: number;
  readonly offset: bigint;
}

/** The orders topic from its beginning. A resend is the same message again: the last one seen stands for all. */
export interface MessageLedger {
  readonly messages: ReadonlyMap<ReservationId, SeenMessage>;
  /** Next offset of the consumer group by partition. */
  readonly committed: ReadonlyMap<number, bigint>;
  /** Nothing of the topic has been deleted. */
  readonly isWhole: boolean;
  /** Messages that the consumer group has not worked off. */
  readonly lag: number;
}

export interface Look {
  readonly redis: MirrorContents;
  readonly topic: MessageLedger;
  readonly durable: DurableLedger;
  /** Of the messages without a reservation row: those that PostgreSQL has seen all the same (refused duplicates of a request, dead letters). */
  readonly inboxed: ReadonlySet<MessageId>;
}

export function isConsumed(topic: MessageLedger, seen: SeenMessage): boolean {
  return seen.offset < (topic.committed.get(seen.partition) ?? 0n);
}
