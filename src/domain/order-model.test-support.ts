/**
 * A tiny model of the sale, built from the state table alone: what may move is what the table lets move. No clock, no stores. Used to test the table by
 * itself, and beside real PostgreSQL and Redis.
 */
import { expect } from 'vitest';

import { moveOf, orderHasEnded, TRANSITIONS, type MachineName, type Transition, type TransitionName, type UnitFate } from './state-table.js';
import { LedgerType, OrderStatus, ReservationStatus, TokenStatus } from './status-codes.js';

export interface ModelRules {
  readonly stock: number;
  readonly restockOnCancel: boolean;
  readonly rebuyAfterCancel: boolean;
}

/** One reservation and all that follows from it. null: the row is not there. */
export interface Purchase {
  readonly user: number;
  order: number | null;
  reservation: number | null;
  unit: number | null;
  /** Payments by their status; each trade of the channel is one. */
  payments: (number | null)[];
  /** Redis: its unit was given back. */
  returnedInRedis: boolean;
  /** Types of ledger entries. */
  ledger: number[];
}

export class OrderModel {
  readonly purchases: Purchase[] = [];
  readonly rules: ModelRules;
  available: number;
  redisStock: number;
  /** User → index of the purchase that holds his one place in Redis. */
  readonly marks = new Map<number, number>();

  constructor(rules: ModelRules) {
    this.rules = rules;
    this.available = rules.stock;
    this.redisStock = rules.stock;
  }

  get #fate(): UnitFate {
    return this.rules.restockOnCancel ? 'restocked' : 'withdrawn';
  }

  /** All moves of the transition, or none. `payment`: index of the payment that it moves. */
  #go(name: TransitionName, purchase: Purchase, payment: number | null = null): boolean {
    const state = (machine: MachineName): number | null => (machine === 'payment' ? (payment === null ? null : purchase.payments[payment] ?? null) : purchase[machine]);
    const moves = (['order', 'reservation', 'unit', 'payment'] as const).flatMap((machine) => {
      const move = machine === 'payment' && payment === null ? null : moveOf(name, machine, this.#fate);
      return move === null ? [] : [{ machine, move }];
    });
    const fits = moves.every(({ machine, move }) => {
      const now = machine === 'unit' && purchase.unit === null ? TokenStatus.AVAILABLE : state(machine);
      return now === null ? move.from.length === 0 : move.from.includes(now);
    });
    if (!fits) return false;
    for (const { machine, move } of moves) {
      if (machine === 'payment') purchase.payments[payment ?? 0] = move.to;
      else purchase[machine] = move.to;
    }
    this.#book(name, purchase);
    return true;
  }

  #book(name: TransitionName, purchase: Purchase): void {
    const { ledger }: Transition = TRANSITIONS[name];
    if (ledger === null) return;
    if (ledger === LedgerType.RELEASE && this.#fate === 'withdrawn') return;
    purchase.ledger.push(ledger);
    if (ledger === LedgerType.ALLOCATE) this.available -= 1;
    if (ledger === LedgerType.RELEASE) this.available += 1;
  }

  reserve(user: number): number | null {
    if (this.marks.has(user) || this.redisStock < 1) return null;
    this.redisStock -= 1;
    this.marks.set(user, this.purchases.length);
    return this.purchases.push({ user, order: null, reservation: null, unit: null, payments: [], returnedInRedis: false, ledger: [] }) - 1;
  }

  /** The message comes, for the first time or again. */
  deliver(index: number): void {
    const purchase = this.#at(index);
    if (!this.#go('arrive', purchase)) return;
    const earlier = this.purchases.filter((other) => other !== purchase && other.user === purchase.user && other.order !== null);
    const mayBuy = earlier.length === 0 || (this.rules.rebuyAfterCancel && earlier.every(({ order }) => orderHasEnded(order ?? 0)));
    this.#go(mayBuy && this.available > 0 ? 'place' : 'refuse', purchase);
  }

  /** The reservation's own time is over and no message has come. */
  lapse(index: number): void {
    this.#go('lapse', this.#at(index));
  }

  /** Nobody can tell its end in time: it waits for a human, and no message makes an order of it any more. */
  handOver(index: number): void {
    const purchase = this.#at(index);
    if (purchase.reservation === null) this.#go('arrive', purchase);
    this.#go('hand-over', purchase);
  }

  /** The human has decided. */
  endByHand(index: number): void {
    this.#go('end-by-hand', this.#at(index));
  }

  /** Money of a trade; `trade` counts the trades of the order, and one that is known is a repeat. */
  pay(index: number, trade: number): void {
    const purchase = this.#at(index);
    if (purchase.order === null || trade < purchase.payments.length) return;
    const payment = purchase.payments.push(0) - 1;
    if (!this.#go('pay', purchase, payment)) this.#go('late-payment', purchase, payment);
  }

  startPaying(index: number): void {
    this.#go('start-paying', this.#at(index));
  }

  cancel(index: number): void {
    this.#go('cancel', this.#at(index));
  }

  expire(index: number): void {
    this.#go('expire', this.#at(index));
  }

  requestRefund(index: number): void {
    const purchase = this.#at(index);
    const paid = purchase.payments.indexOf(20);
    if (paid >= 0) this.#go('request-refund', purchase, paid);
  }

  /** The channel confirms the refund of one payment; the order waits for the one that had paid it, which is always its first. */
  completeRefund(index: number, payment: number): void {
    const purchase = this.#at(index);
    if (purchase.payments[payment] !== 40) return;
    const closes = purchase.order === OrderStatus.REFUND_PENDING && payment === purchase.payments.indexOf(40);
    this.#go(closes ? 'complete-refund' : 'return-late-payment', purchase, payment);
  }

  /** The events of a purchase reach Redis, any number of times. */
  project(index: number): void {
    const purchase = this.#at(index);
    const ended = purchase.reservation === ReservationStatus.REJECTED || purchase.reservation === ReservationStatus.EXPIRED || purchase.reservation === ReservationStatus.RELEASED;
    if (!ended) return;
    const released = purchase.reservation === ReservationStatus.RELEASED;
    if (!purchase.returnedInRedis && (!released || this.rules.restockOnCancel)) {
      purchase.returnedInRedis = true;
      this.redisStock += 1;
    }
    if ((!released || this.rules.rebuyAfterCancel) && this.marks.get(purchase.user) === index) this.marks.delete(purchase.user);
  }

  #at(index: number): Purchase {
    const purchase = this.purchases[index];
    if (purchase === undefined) throw new Error(`no purchase ${String(index)}`);
    return purchase;
  }

  /** Paper 004 §1, after every step. */
  check(): void {
    const { stock } = this.rules;
    const count = (holds: (purchase: Purchase) => boolean): number => this.purchases.filter(holds).length;
    const confirmed = count(({ order }) => order === OrderStatus.PAID || order === OrderStatus.REFUND_PENDING);
    const reserved = count(({ order }) => order === OrderStatus.CREATED || order === OrderStatus.PAYING);
    const withdrawn = count(({ unit }) => unit === TokenStatus.RELEASED);
    expect(this.available).toBeGreaterThanOrEqual(0);
    expect(confirmed + reserved).toBeLessThanOrEqual(stock);
    expect(this.available + reserved + confirmed + withdrawn).toBe(stock);
    // Redis lags behind and never ahead: what it would still sell is never more than what is there or on its way back.
    const inFlight = count(({ reservation }) => reservation === null || reservation === ReservationStatus.MANUAL_REQUIRED);
    expect(this.redisStock).toBeLessThanOrEqual(this.available - inFlight);
    for (const purchase of this.purchases) this.#checkOne(purchase);
    const live = this.purchases.filter(({ order }) => order !== null && !orderHasEnded(order)).map(({ user }) => user);
    expect(new Set(live).size).toBe(live.length);
  }

  #checkOne({ order, reservation, unit, payments, ledger }: Purchase): void {
    const holds = unit === TokenStatus.CLAIMED || unit === TokenStatus.SOLD;
    expect(holds).toBe(reservation === ReservationStatus.ORDERED || reservation === ReservationStatus.RELEASE_PENDING);
    expect(order !== null && !orderHasEnded(order)).toBe(holds);
    expect(unit === TokenStatus.SOLD).toBe(order === OrderStatus.PAID || order === OrderStatus.REFUND_PENDING);
    expect(payments.filter((status) => status === 20).length).toBe(order === OrderStatus.PAID ? 1 : 0);
    for (const type of [LedgerType.ALLOCATE, LedgerType.RELEASE, LedgerType.SOLD]) expect(ledger.filter((entry) => entry === type).length).toBeLessThanOrEqual(1);
    if (order === OrderStatus.CANCELLED) expect(ledger).not.toContain(LedgerType.SOLD);
  }
}
