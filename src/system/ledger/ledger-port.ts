/**
 * PostgreSQL as the rest of the system sees it: the place where truth is. Statements live in `sql/commands`, one per file.
 */
import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderId, RequestId, ReservationId, SkuKey, UserId } from '../../domain/ids.js';
import type { OrderResult } from '../../domain/reason-codes.js';
import type { RefusalFault } from './postgres-failure.js';

/** What became of one message in the transaction. */
export interface MessageResult {
  readonly messageId: string;
  readonly reservationId: ReservationId;
  /** The message had an Inbox row before this transaction. */
  readonly repeated: boolean;
  readonly result: OrderResult;
  readonly orderId: OrderId | null;
}

/** `unknown`: COMMIT had no definite answer; deliver the batch again and let the Inbox decide (`001` §7.5). */
export type TransactionOutcome =
  | { readonly outcome: 'committed'; readonly results: readonly MessageResult[] }
  | { readonly outcome: 'unknown'; readonly reason: string }
  /** Nothing was written and the same batch may be tried again: no connection, deadlock after its retries, allocator's units all locked. */
  | { readonly outcome: 'not-committed'; readonly reason: string; /** A statement ran into its time bound: fewer messages at once may fit. */ readonly slow: boolean; /** PostgreSQL is there and said so itself: another transaction was in the way, or the time bound. */ readonly answered?: boolean }
  /** Nothing was written, and trying the same again does not help: the database refuses one of the messages for a definite cause. */
  | { readonly outcome: 'refused'; readonly reason: string; /** Whose fault it is. Absent: the message's. */ readonly fault?: RefusalFault };

/** What a query may show: the durable state of one request. */
export interface DurableRequestState {
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly reservationId: ReservationId;
  readonly reservationStatus: number;
  readonly failureCode: string | null;
  readonly orderId: OrderId | null;
  readonly orderStatus: number | null;
}

export type DurableLookup =
  | { readonly outcome: 'done'; readonly state: DurableRequestState | null }
  | { readonly outcome: 'unavailable'; readonly reason: string };

/** Read side for the gateway's query endpoint. */
export interface RequestReader {
  lookup(sku: SkuKey, requestId: RequestId): Promise<DurableLookup>;
  /**
   * Whether a unit of the SKU may still come on sale: it is free in PostgreSQL, or held by a reservation that may end without an order, or by an order, paid or not, where the
   * rules of the activity restock. Null: PostgreSQL does not answer. Absent: nobody can say.
   */
  unitsMayReturn?(sku: SkuKey): Promise<boolean | null>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

/** Writes orders for the consumer. */
export interface OrderLedger {
  /** One transaction for all the messages, decided one by one. Never rejects for an operating failure. */
  createOrders(messages: readonly OrderMessage[]): Promise<TransactionOutcome>;
  /** Runs so many orders that are taken back, to be warm when the first one comes. Never rejects: who cannot rehearse starts cold. Absent: there is nothing to warm. */
  rehearse?(orders: number, batch: number): Promise<void>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

/** A reservation as PostgreSQL has it, and what its end means for Redis. */
export interface DurableReservation {
  readonly status: number;
  readonly orderId: OrderId | null;
  readonly version: number;
  /** It has ended, and its unit is free again. */
  readonly returnsUnit: boolean;
  /** It has ended, and its user may reserve again. */
  readonly clearsUserMark: boolean;
}

/** What the scanner decides by: the durable state of reservations, by id. Absent: PostgreSQL has never seen it. */
export interface ReservationJudge {
  /** null: PostgreSQL did not answer. */
  durableStates(reservationIds: readonly ReservationId[]): Promise<ReadonlyMap<ReservationId, DurableReservation> | null>;
  /**
   * Closes a reservation that ends without an order: inserts the reservation row EXPIRED and its RESERVATION_RELEASED Outbox row in one
   * transaction; does nothing when a row is there already (DESIGN §4, Release). `refused`: the database will not have it, now or later.
   */
  closeWithoutOrder(reservation: ClosedReservation): Promise<'closed' | 'already-there' | 'refused' | 'unavailable'>;
  /**
   * Makes a reservation MANUAL_REQUIRED whose end nobody can tell; its unit stays held. `request-taken`: its request id belongs to another
   * reservation, so it can have no row.
   */
  handOver(reservation: ClosedReservation): Promise<'handed-over' | 'already-there' | 'request-taken' | 'refused' | 'unavailable'>;
  /** Reservations that wait for a human. null: PostgreSQL did not answer. */
  manual(): Promise<{ readonly waiting: number; readonly oldestSeconds: number } | null>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ClosedReservation {
  readonly sku: SkuKey;
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly messageId: string;
  readonly userId: UserId;
  readonly purchaseNo: number;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
}
