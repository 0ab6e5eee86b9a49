/**
 * paid-never-cancelled: of paying and cancelling an order exactly one happens. What was paid at some commit is never cancelled, and what was cancelled is never
 * paid; money that comes too late, or twice, moves in `payment_record` only (paper `001` §7.6, §13.3; `004` §6).
 *
 * And the money adds up: a paid order has exactly one succeeded payment of its own amount, any other that succeeded goes back, and no money that the channel
 * was told is safe has been forgotten.
 */
import type { Facts } from '../facts/facts.js';
import type { OrderRow, PaymentRow } from '../facts/store-facts.js';
import { commitHistoryOf } from './commit-history.js';
import { grouped, ordersById, paymentsByOrder, postgresOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { acknowledgedMoney } from './payer-answers.js';
import { refundTaskOf } from './refund-tasks.js';
import { ORDER_STATES, orderWasPaid, PAYMENT_STATES, stateName } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

const PAID = 30;
const CANCELLED = 40;
const CLOSED = 50;
const REFUND_PENDING_ORDER = 60;
const SUCCEEDED = 20;
const FAILED = 30;
const REFUND_PENDING = 40;
const REFUNDED = 50;

export const paidNeverCancelled: Invariant = {
  name: 'paid-never-cancelled',
  title: 'What is paid stays sold',
  whatItMeans: 'No paid order is cancelled and no cancelled order is paid; every payment belongs to one paid order, or the money goes back, and none is forgotten.',
  needs: ['history', 'postgres', 'commitLog'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(paidNeverCancelled, facts);
    overCommits(facts, tally);
    for (const order of postgresOf(facts).orders) eachOrder(facts, order, tally);
    for (const payment of postgresOf(facts).payments) eachPayment(facts, payment, tally);
    eachTrade(facts, tally);
    return tally.verdict();
  },
};

function violate(tally: Tally, orderId: string, claim: string): void {
  tally.violation({ kind: 'order', id: orderId, subject: { orderId }, claim });
}

function overCommits(facts: Facts, tally: Tally): void {
  for (const [orderId, path] of commitHistoryOf(facts).orders) {
    tally.check();
    const paid = path.findIndex((step) => orderWasPaid(step.status));
    const cancelled = path.findIndex((step) => step.status === CANCELLED);
    if (paid < 0 || cancelled < 0) continue;
    const later = path[Math.max(paid, cancelled)];
    violate(tally, orderId, `Order ${orderId} was ${paid < cancelled ? 'paid and then cancelled' : 'cancelled and then paid'}, in commit ${later?.transaction.lsn ?? '?'}.`);
  }
}

function eachOrder(facts: Facts, order: OrderRow, tally: Tally): void {
  tally.check();
  const payments = paymentsByOrder(facts).get(order.orderId) ?? [];
  const count = (status: number): number => payments.filter((payment) => payment.status === status).length;
  const state = `Order ${order.orderId} is ${stateName(ORDER_STATES, order.status)}`;
  if (order.status === CANCELLED && order.paidAtUs !== null) violate(tally, order.orderId, `${state} and has a time of payment.`);
  if (orderWasPaid(order.status) !== (order.paidAtUs !== null) && order.status !== CANCELLED) violate(tally, order.orderId, `${state} and has ${order.paidAtUs === null ? 'no' : 'a'} time of payment.`);
  const succeeded = count(SUCCEEDED);
  if (succeeded !== (order.status === PAID ? 1 : 0)) violate(tally, order.orderId, `${state} and has ${String(succeeded)} succeeded payments.`);
  if (order.status === REFUND_PENDING_ORDER && count(REFUND_PENDING) === 0) violate(tally, order.orderId, `${state} and no payment of it waits for its refund.`);
  if (order.status === CLOSED && count(REFUNDED) === 0) violate(tally, order.orderId, `${state} and no payment of it was refunded.`);
}

function eachPayment(facts: Facts, payment: PaymentRow, tally: Tally): void {
  tally.check();
  const what = `Payment ${payment.paymentId} (${stateName(PAYMENT_STATES, payment.status)})`;
  const order = ordersById(facts).get(payment.orderId)?.[0];
  if (order === undefined) {
    violate(tally, payment.orderId, `${what} is for order ${payment.orderId}, which does not exist.`);
    return;
  }
  const money = payment.status === SUCCEEDED || payment.status === REFUND_PENDING || payment.status === REFUNDED;
  if (money && (payment.amount !== order.totalAmount || payment.currency !== order.currency)) {
    violate(tally, payment.orderId, `${what} is over ${payment.amount} ${payment.currency}, its order over ${order.totalAmount} ${order.currency}.`);
  }
  if (payment.status === SUCCEEDED && payment.paidAtUs === null) violate(tally, payment.orderId, `${what} has no time of payment.`);
  if (payment.status !== REFUND_PENDING) return;
  const task = refundTaskOf(facts, payment);
  if (task.isGivenUp) violate(tally, payment.orderId, `${what} waits for its refund, and ${task.words}.`);
}

/** One trade number is one movement of money: it is booked once, and nothing that was acknowledged is missing. */
function eachTrade(facts: Facts, tally: Tally): void {
  const { payments, unmatchedPayments } = postgresOf(facts);
  const trades = [
    // What the channel called failed books no money: the same trade may bring it after all, and then it is booked where it fits.
    ...payments.flatMap(({ provider, tradeNo, orderId, amount, status }) => (tradeNo === null ? [] : [{ provider, tradeNo, orderId, amount, first: status !== FAILED }])),
    // A trade that is told again for another order has been booked with its own.
    ...unmatchedPayments.map(({ provider, tradeNo, claimedOrderId, amount, reason }) => ({ provider, tradeNo, orderId: claimedOrderId ?? 'none', amount, first: reason !== 'TRADE_OF_ANOTHER_ORDER' })),
  ];
  for (const [, booked] of grouped(trades.filter((trade) => trade.first), (trade) => `${trade.provider} ${trade.tradeNo}`)) {
    tally.check();
    const [, second] = booked;
    if (second !== undefined) violate(tally, second.orderId, `Trade ${second.tradeNo} of ${second.provider} is booked ${String(booked.length)} times.`);
  }
  if (!facts.postgres.present) return;
  const byNumber = grouped(trades, (trade) => trade.tradeNo);
  for (const told of acknowledgedMoney(facts)) {
    tally.check();
    const booked = byNumber.get(told.channelTradeNo ?? '') ?? [];
    if (booked.length === 0) violate(tally, told.orderId, `The channel was told ${String(told.code)} for trade ${String(told.channelTradeNo)}, and the money is booked nowhere.`);
    else if (told.amountMinor !== null && booked.every((trade) => trade.amount !== told.amountMinor)) {
      violate(tally, told.orderId, `Trade ${String(told.channelTradeNo)} brought ${told.amountMinor} and is booked as ${String(booked[0]?.amount)}.`);
    }
  }
}
