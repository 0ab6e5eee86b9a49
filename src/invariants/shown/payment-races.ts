/**
 * Payments that met the end of their order: the channel's money came to the payment role within half a second of the moment from which the closer may end the order.
 * Who won says the order, and where the money went says its payment.
 */
import type { Facts } from '../../facts/facts.js';
import type { OrderRow } from '../../facts/store-facts.js';
import { wallToMonoUs } from '../../facts/timeline.js';
import { ordersById, paymentsByOrder } from '../indexes.js';
import { rememberedPerFacts } from '../remembered.js';
import type { CountedFigure } from './shown-figure.js';

const WINDOW_US = 500_000;
/** Answers that decide about money; all others say that it is no money of this order. */
const DECIDED: ReadonlySet<string | null> = new Set(['PAID', 'REFUND_PENDING', 'REFUNDED']);
const MONEY_GOES_BACK: ReadonlySet<number> = new Set([40, 50]);

/** null: without the clients, the orders or the payments nobody can tell. */
const racesOf: (facts: Facts) => readonly OrderRow[] | null = rememberedPerFacts((facts) => {
  if (!facts.history.present || !facts.postgres.present) return null;
  const firstAskedUs = new Map<string, number>();
  for (const { act, channelSays, code, orderId, askedUs } of facts.history.value.payerTellings) {
    if (act !== 'callback' || channelSays !== 'SUCCEEDED' || !DECIDED.has(code)) continue;
    firstAskedUs.set(orderId, Math.min(askedUs, firstAskedUs.get(orderId) ?? Infinity));
  }
  return [...firstAskedUs].flatMap(([orderId, askedUs]) => {
    const order = ordersById(facts).get(orderId)?.[0];
    if (order === undefined) return [];
    const endUs = wallToMonoUs(facts.run.clock, order.expireAtUs);
    return Math.abs(askedUs - endUs) <= WINDOW_US ? [order] : [];
  });
});

const timedOut = (order: OrderRow): boolean => order.cancelReason === 'PAY_TIMEOUT';
const countOf = (facts: Facts, which: (order: OrderRow) => boolean): number | null => racesOf(facts)?.filter(which).length ?? null;

export const races: CountedFigure = {
  what: 'orders whose money came within half a second of their end',
  count: (facts) => countOf(facts, () => true),
};

export const racesWonByPayment: CountedFigure = {
  what: 'of them were paid',
  count: (facts) => countOf(facts, (order) => order.paidAtUs !== null),
};

export const racesWonByEnd: CountedFigure = {
  what: 'of them had timed out',
  count: (facts) => countOf(facts, timedOut),
};

export const lateMoneyReturned: CountedFigure = {
  what: 'timed-out orders whose money went back',
  count: (facts) => {
    if (!facts.postgres.present) return null;
    const returned = (order: OrderRow): boolean => paymentsByOrder(facts).get(order.orderId)?.some((payment) => MONEY_GOES_BACK.has(payment.status)) ?? false;
    return facts.postgres.value.orders.filter((order) => timedOut(order) && returned(order)).length;
  },
};
