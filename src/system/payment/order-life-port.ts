/**
 * What happens to an order after it was made: paying, ending, refunding. Each call is one transaction of PostgreSQL that takes its locks in the
 * sequence of the order transaction (reservation → order → stock → ledger → Outbox), and follows `src/domain/state-table.ts`.
 */
import type { OrderId, ReservationId, UserId } from '../../domain/ids.js';
import type { PaymentCallback, PaymentCode } from '../../domain/payment-contract.js';

/** `unknown`: COMMIT had no definite answer; the same call again tells, and does nothing twice. Nothing ever rejects for an operating failure. */
export type LifeOutcome<Value> =
  | { readonly outcome: 'done'; readonly value: Value }
  | { readonly outcome: 'unknown' | 'unavailable' | 'refused'; readonly reason: string; /** With `unavailable`: PostgreSQL is there and said so itself, another transaction was in the way or the time bound. */ readonly answered?: boolean };

/** What a request or a callback led to, in the words of the contract. */
export interface LifeAnswer {
  readonly code: PaymentCode;
  readonly orderId: string | null;
  readonly paymentId: string | null;
  readonly orderStatus: number | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly reason: string | null;
  readonly repeated: boolean;
}

export interface ClosedOrder {
  readonly orderId: OrderId;
  readonly reservationId: ReservationId;
}

/** A payment whose end the channel has to be asked for. */
export interface PaymentQuestion {
  readonly paymentId: string;
  readonly orderId: OrderId;
  readonly provider: string;
  /** Times that the channel has been asked, this one included. */
  readonly askedTimes: number;
}

export interface RefundablePayment {
  readonly paymentId: string;
  readonly orderId: OrderId;
  readonly provider: string;
  readonly tradeNo: string | null;
  readonly amount: string;
  readonly currency: string;
  /** `PaymentStatus`. */
  readonly status: number;
}

export interface OrderLife {
  look(orderId: OrderId, userId: UserId): Promise<LifeOutcome<LifeAnswer>>;
  startPaying(orderId: OrderId, userId: UserId, provider: string): Promise<LifeOutcome<LifeAnswer>>;
  cancel(orderId: OrderId, userId: UserId): Promise<LifeOutcome<LifeAnswer>>;
  requestRefund(orderId: OrderId, userId: UserId): Promise<LifeOutcome<LifeAnswer>>;
  takeCallback(callback: PaymentCallback): Promise<LifeOutcome<LifeAnswer>>;
  /** The channel does not know, or did not answer. */
  markUnknown(paymentId: string): Promise<LifeOutcome<null>>;
  /** At most `limit` open payments that are due to be asked about; each comes again only after its wait. */
  claimQuestions(limit: number): Promise<LifeOutcome<readonly PaymentQuestion[]>>;
  /** The channel has never heard of the payment; true: it is not asked about any more, since its order has long not been payable. */
  endQuestions(paymentId: string): Promise<LifeOutcome<boolean>>;
  /** Cancels those of the orders that are unpaid and whose time is over by PostgreSQL's clock; the others are left as they are. */
  closeExpired(orderIds: readonly OrderId[]): Promise<LifeOutcome<readonly ClosedOrder[]>>;
  /** Unpaid orders whose time has been over for longer than `graceMs`, oldest first. */
  findExpired(graceMs: number, limit: number): Promise<LifeOutcome<readonly OrderId[]>>;
  loadPayment(paymentId: string): Promise<LifeOutcome<RefundablePayment | null>>;
  /** The channel has confirmed the refund. `closesOrder`: with it the refund of the order is complete. Repeats do nothing. */
  completeRefund(paymentId: string, closesOrder: boolean): Promise<LifeOutcome<null>>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}
