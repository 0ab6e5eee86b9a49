/**
 * The lives of the reservations in a hand-written world: each is walked to its fate in order of time, through Redis, the topics and PostgreSQL, the way
 * the right system would. Units and marks that come back are there for whoever asks later.
 */
import type { AnswerCode } from '../domain/reason-codes.js';
import type { ChannelBooks, ChannelCharge, ChannelRefund } from '../facts/channel-books.js';
import type { RunFacts } from '../facts/facts.js';
import type { PayerTelling } from '../facts/history.js';
import type { RedisFacts, RedisRecord, RowChange } from '../facts/store-facts.js';
import { HandWrittenRows, PRICE, uuid, type Names } from './hand-written-rows.test-support.js';

/**
 * How a reservation ends. Without an order: `rejected` by the consumer, `closed` by the scanner and never sent, `manual` never sent and ended by a human whom it waited for, `deadLetter`
 * given up on and closed by the undertaker.
 * With one: `ordered` and unpaid, `paid`, `cancelled` by its user, `expired`, `latePaid` after it expired, `paidTwice`, `mismatched` by a wrong amount,
 * `refunded` after it was paid.
 */
export const FATES = [
  'closed', 'rejected', 'manual', 'deadLetter', 'cancelled', 'expired', 'latePaid', 'paid', 'paidTwice', 'mismatched', 'refunded', 'ordered',
] as const;
export type Fate = (typeof FATES)[number];

export interface Wanted {
  readonly requestId: string;
  readonly userId: string;
  /** Reserved by the arrival with the other payload. */
  readonly conflicting: boolean;
  readonly fate: Fate;
  /** Its message stands in the topic twice. */
  readonly twice: boolean;
  /** Monotonic. */
  readonly reservedUs: number;
  readonly arrival: number;
}

export interface Made extends Wanted, Names {
  readonly arrivals: number[];
  readonly record: { -readonly [Field in keyof RedisRecord]: RedisRecord[Field] };
}

/** From reservation to commit; from a commit until Redis shows it; between two acts of a payer. */
const COMMIT_AFTER_US = 50_000;
const SHOWN_AFTER_US = 20_000;
const ACT_US = 100_000;
const PAYMENT_WINDOW_US = 900_000_000;

function numberOf(made: Made): number {
  return Number.parseInt(made.reservationId.slice(-12), 16);
}

function paymentIdOf(made: Made): string {
  return uuid(4, numberOf(made));
}

export class HandWrittenStores {
  readonly rows: HandWrittenRows;
  readonly payerTellings: PayerTelling[] = [];
  readonly #charges: ChannelCharge[] = [];
  readonly #refunds: ChannelRefund[] = [];
  readonly #run: RunFacts;
  readonly #endsAfterUs: number;
  readonly #records: Made['record'][] = [];
  readonly #users = new Map<string, string>();
  readonly #due: { readonly atUs: number; readonly act: () => void }[] = [];
  #stock: number;
  #made = 0;

  constructor(run: RunFacts, wallMinusMonoUs: number, endUs: number, endsAfterUs: number) {
    this.rows = new HandWrittenRows(run, wallMinusMonoUs, endUs);
    this.#run = run;
    this.#endsAfterUs = endsAfterUs;
    this.#stock = run.stock;
  }

  hasStock(): boolean {
    return this.#stock > 0;
  }

  isMarked(userId: string): boolean {
    return this.#users.has(userId);
  }

  reserve(wanted: Wanted): Made {
    this.#made += 1;
    const number = this.#made;
    const names = { reservationId: uuid(1, number), messageId: uuid(2, number), orderId: String(9_100_000_000_000_000_000n + BigInt(number)) };
    const { requestId, userId, reservedUs } = wanted;
    const reservedAtMs = this.rows.wallMs(reservedUs);
    const record: Made['record'] = {
      requestId, userId, reservationId: names.reservationId, messageId: names.messageId, payloadHash: 'ab'.repeat(32), purchaseNo: 1, state: wanted.fate === 'closed' || wanted.fate === 'manual' ? 'P' : 'S', reservedAtMs,
      expiresAtMs: reservedAtMs + 300_000, orderId: null, reason: null, appliedVersion: 0, unitReturned: false,
    };
    this.#records.push(record);
    this.#users.set(userId, requestId);
    this.#stock -= 1;
    const made: Made = { ...wanted, ...names, arrivals: [wanted.arrival], record };
    this.#at(reservedUs + COMMIT_AFTER_US, (atUs) => { this.#settle(made, atUs); });
    return made;
  }

  /** Lets everything happen that is due by then, in order of time. */
  advance(toUs: number): void {
    for (;;) {
      const next = this.#due[0];
      if (next === undefined || next.atUs > toUs) return;
      this.#due.shift();
      next.act();
    }
  }

  /** What a query hears now. */
  stateOf(made: Made): AnswerCode {
    return ({ P: 'QUEUED_PENDING_MESSAGE', S: 'QUEUED', O: 'ORDERED', R: 'REJECTED', L: 'RELEASED' } as const)[made.record.state];
  }

  #at(atUs: number, act: (atUs: number) => void): void {
    const index = this.#due.findIndex((later) => later.atUs > atUs);
    this.#due.splice(index < 0 ? this.#due.length : index, 0, { atUs, act: () => { act(atUs); } });
  }

  #settle(made: Made, atUs: number): void {
    if (made.fate === 'closed') this.#end(made, 50, null, 'RESERVATION_RELEASED', atUs, []);
    else if (made.fate === 'manual') {
      this.rows.commit(atUs, [this.rows.reservation(made, 'insert', 0, null, null, atUs)]);
      this.rows.commit(atUs + 1_000, [this.rows.reservation(made, 'update', 60, null, 'RECOVERY_DEADLINE', atUs + 1_000)]);
      this.#at(Math.max(atUs + ACT_US, made.reservedUs + this.#endsAfterUs), (laterUs) => { this.#end(made, 50, 'REJECTED_BY_HAND', 'RESERVATION_RELEASED', laterUs, [], 'update'); });
    } else this.#consume(made, atUs);
  }

  #consume(made: Made, atUs: number): void {
    const places = Array.from({ length: made.twice ? 2 : 1 }, () => this.rows.send(made));
    if (made.fate === 'deadLetter') {
      for (const place of places) this.rows.giveUp(made, place, atUs);
      this.#at(atUs + ACT_US, (laterUs) => {
        this.rows.workOffLetters(made);
        this.#end(made, 50, 'REJECTED_UNPROCESSABLE', 'RESERVATION_RELEASED', laterUs, []);
      });
    }
    else if (made.fate === 'rejected') this.#end(made, 20, 'REJECTED_EXPIRED', 'RESERVATION_REJECTED', atUs, [this.rows.receive(made, 'REJECTED_EXPIRED', null)]);
    else this.#order(made, atUs);
  }

  #end(made: Made, status: number, failureCode: string | null, event: string, atUs: number, before: readonly RowChange[], row: 'insert' | 'update' = 'insert'): void {
    this.rows.commit(atUs, [...before, this.rows.reservation(made, row, status, null, failureCode, atUs), this.rows.announce(made, event, 1, atUs, null, true)]);
    this.#show(made, status === 20 ? 'R' : 'L', null, atUs, true, true);
  }

  #show(made: Made, state: 'O' | 'R' | 'L', orderId: string | null, atUs: number, returnsUnit: boolean, clearsMark: boolean): void {
    this.#at(atUs + SHOWN_AFTER_US, () => {
      Object.assign(made.record, { state, orderId, appliedVersion: made.record.appliedVersion + 1, unitReturned: returnsUnit });
      if (returnsUnit) this.#stock += 1;
      if (clearsMark && this.#users.get(made.userId) === made.requestId) this.#users.delete(made.userId);
    });
  }

  #order(made: Made, atUs: number): void {
    const { rows } = this;
    const endsUs = made.reservedUs + this.#endsAfterUs;
    const runsOut = made.fate === 'expired' || made.fate === 'latePaid';
    const expireUs = runsOut ? endsUs - 1_000 : atUs + PAYMENT_WINDOW_US;
    const purchaseNo = 1 + rows.orders.filter((order) => order.userId === made.userId).length;
    const inbox = rows.receive(made, 'ORDER_CREATED', made.orderId);
    const { tokenId, changes } = rows.move(made, 10, null);
    rows.commit(atUs, [
      inbox, { table: 'inventory_reservation', kind: 'insert', row: { reservation_id: made.reservationId, request_id: made.requestId, user_id: made.userId, status: '0', order_id: null } },
      rows.placeOrder(made, tokenId, purchaseNo, expireUs, atUs), ...changes, rows.reservation(made, 'update', 10, made.orderId, null, atUs, purchaseNo),
      rows.announce(made, 'ORDER_CREATED', 1, atUs, made.orderId), rows.announce(made, 'ORDER_CLOSE_DUE', 1, atUs, made.orderId, false, expireUs),
    ]);
    this.#show(made, 'O', made.orderId, atUs, false, false);
    if (made.fate === 'cancelled') this.#at(endsUs, (nowUs) => { this.#cancel(made, 'USER_CANCELLED', nowUs); });
    if (made.fate === 'expired') this.#at(endsUs, (nowUs) => { this.#cancel(made, 'PAY_TIMEOUT', nowUs); });
    if (made.fate === 'mismatched') this.#at(endsUs, (nowUs) => { this.#mismatch(made, nowUs); });
    if (made.fate === 'latePaid') this.#payLate(made, endsUs);
    if (made.fate === 'paid' || made.fate === 'paidTwice' || made.fate === 'refunded') this.#payInTime(made, endsUs);
  }

  #tell(made: Made, act: PayerTelling['act'], code: NonNullable<PayerTelling['code']>, atUs: number, tradeNo: string | null = null, amount = PRICE): void {
    const callback = act === 'callback';
    if (callback && tradeNo !== null) {
      this.#charges.push({ tradeNo, provider: 'fake', paymentId: made.fate === 'mismatched' || tradeNo !== `t-${made.orderId}` ? null : paymentIdOf(made), orderId: made.orderId, amount, currency: 'CNY', takenUs: atUs - 4_000 });
    }
    this.payerTellings.push({
      kind: act === 'cancel' ? 'cancel' : 'payment', act, arrival: made.arrival, userId: made.userId, orderId: made.orderId, channelTradeNo: tradeNo,
      callbackId: callback ? `c-${String(tradeNo)}` : null, amountMinor: callback ? amount : null, channelSays: callback ? 'SUCCEEDED' : null, askedUs: atUs - 3_000,
      answeredUs: atUs + 3_000, httpStatus: code === 'PAYING' ? 201 : 200, code, reason: null,
    });
  }

  #payBack(paymentId: string, tradeNo: string, atUs: number): void {
    this.#refunds.push({ refundId: paymentId, tradeNo, amount: PRICE, currency: 'CNY', askedUs: atUs - 5_000, effect: 'paid-back' });
  }

  channelBooks(): ChannelBooks {
    return { charges: this.#charges, refunds: this.#refunds };
  }

  #startPaying(made: Made, paymentId: string, atUs: number): void {
    this.rows.commit(atUs, [this.rows.moveOrder(made.orderId, { status: 20 }, atUs), this.rows.payment(paymentId, made.orderId, 0, null, atUs)]);
    this.#tell(made, 'start-payment', 'PAYING', atUs);
  }

  #payInTime(made: Made, endsUs: number): void {
    const { rows } = this;
    const [payment, trade] = [paymentIdOf(made), `t-${made.orderId}`];
    const startUs = Math.max(endsUs - ACT_US, made.reservedUs + COMMIT_AFTER_US + 10_000);
    this.#at(startUs, (atUs) => { this.#startPaying(made, payment, atUs); });
    this.#at(startUs + ACT_US, (atUs) => {
      const { changes } = rows.move(made, 30, rows.orderOf(made.orderId).inventoryTokenId);
      rows.commit(atUs, [
        rows.payment(payment, made.orderId, 20, { tradeNo: trade, callbackId: `c-${trade}` }, atUs), rows.moveOrder(made.orderId, { status: 30, paidAtUs: rows.wallUs(atUs) }, atUs),
        ...changes, rows.announce(made, 'ORDER_PAID', 2, atUs, made.orderId),
      ]);
      this.#tell(made, 'callback', 'PAID', atUs, trade);
    });
    if (made.fate === 'paidTwice') this.#at(startUs + 2 * ACT_US, (atUs) => { this.#turnBack(made, uuid(7, numberOf(made)), `${trade}-again`, atUs); });
    if (made.fate === 'refunded') this.#at(startUs + 2 * ACT_US, (atUs) => { this.#refund(made, payment, atUs); });
  }

  /** Money that comes too late or twice: it goes back, and the order stays as it is. */
  #turnBack(made: Made, paymentId: string, tradeNo: string, atUs: number): void {
    const { rows } = this;
    rows.commit(atUs, [rows.payment(paymentId, made.orderId, 40, { tradeNo, callbackId: `c-${tradeNo}` }, atUs)]);
    rows.refundTask(made, paymentId, atUs);
    this.#tell(made, 'callback', 'REFUND_PENDING', atUs, tradeNo);
    this.#at(atUs + ACT_US, (laterUs) => {
      this.#payBack(paymentId, tradeNo, laterUs);
      rows.commit(laterUs, [rows.payment(paymentId, made.orderId, 50, null, laterUs)]);
    });
  }

  #payLate(made: Made, endsUs: number): void {
    const paymentId = paymentIdOf(made);
    this.#at(made.reservedUs + COMMIT_AFTER_US + 10_000, (atUs) => { this.#startPaying(made, paymentId, atUs); });
    this.#at(endsUs, (atUs) => { this.#cancel(made, 'PAY_TIMEOUT', atUs); });
    this.#at(endsUs + ACT_US, (atUs) => { this.#turnBack(made, paymentId, `t-${made.orderId}`, atUs); });
  }

  #mismatch(made: Made, atUs: number): void {
    this.rows.unmatched(made.orderId, `t-${made.orderId}`, '9899', 'AMOUNT_MISMATCH');
    this.#tell(made, 'callback', 'UNMATCHED', atUs, `t-${made.orderId}`, '9899');
  }

  #cancel(made: Made, cancelReason: string, atUs: number): void {
    const order = this.rows.moveOrder(made.orderId, { status: 40, cancelReason, cancelledAtUs: this.rows.wallUs(atUs) }, atUs);
    this.#release(made, atUs, [order], [this.rows.announce(made, 'ORDER_CANCELLED', 2, atUs, made.orderId)]);
    if (cancelReason === 'USER_CANCELLED') this.#tell(made, 'cancel', 'CANCELLED', atUs);
  }

  #refund(made: Made, paymentId: string, atUs: number): void {
    const { rows } = this;
    rows.commit(atUs, [
      rows.moveOrder(made.orderId, { status: 60 }, atUs), rows.reservation(made, 'update', 30, made.orderId, null, atUs), rows.payment(paymentId, made.orderId, 40, null, atUs),
    ]);
    rows.refundTask(made, paymentId, atUs);
    this.#at(atUs + ACT_US, (laterUs) => {
      this.#payBack(paymentId, `t-${made.orderId}`, laterUs);
      this.#release(made, laterUs, [rows.payment(paymentId, made.orderId, 50, null, laterUs), rows.moveOrder(made.orderId, { status: 50 }, laterUs)], []);
    });
  }

  /** The order has ended: its unit goes back on sale or out of it, and the user's mark goes or stays, as the activity says. */
  #release(made: Made, atUs: number, before: readonly RowChange[], events: readonly RowChange[]): void {
    const { restockOnCancel, rebuyAfterCancel } = this.#run.rules;
    const tokenId = this.rows.orderOf(made.orderId).inventoryTokenId;
    const changes = restockOnCancel ? this.rows.move(made, 20, tokenId).changes : this.rows.withdraw(tokenId);
    this.rows.commit(atUs, [
      ...before, this.rows.reservation(made, 'update', 40, made.orderId, null, atUs), ...changes, ...events,
      this.rows.announce(made, 'RESERVATION_RELEASED', 3, atUs, made.orderId, restockOnCancel),
    ]);
    this.#show(made, 'L', made.orderId, atUs, restockOnCancel, rebuyAfterCancel);
  }

  redisFacts(): RedisFacts {
    return {
      stock: this.#stock, meta: { epoch: '1' }, records: this.#records, pending: [], permits: [], problems: [], runId: 'hand',
      users: [...this.#users].map(([userId, requestId]) => ({ userId, requestId })),
    };
  }
}
