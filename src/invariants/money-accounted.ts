/**
 * money-accounted: the books of the payment channel and those of the system tell one story (paper `004` §6). What the channel took is kept for one order that stands
 * paid, or has gone back whole, or lies with the unmatched payments for a human; it goes back once, under one key; and what the system calls refunded has left the
 * channel. Money of an order that is not PAID is kept by nobody.
 *
 * The channel is a witness that the system cannot talk to: a refund made twice under two keys looks like one in the system's own tables.
 */
import type { ChannelCharge, ChannelRefund } from '../facts/channel-books.js';
import type { Facts } from '../facts/facts.js';
import type { PaymentRow, UnmatchedPaymentRow } from '../facts/store-facts.js';
import { channelOf, grouped, ordersById, postgresOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { isDurablyTold } from './payer-answers.js';
import { refundTaskOf } from './refund-tasks.js';
import { rememberedPerFacts } from './remembered.js';
import { ORDER_STATES, PAYMENT_STATES, stateName } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

const SUCCEEDED = 20;
const REFUND_PENDING = 40;
const REFUNDED = 50;
const PAID = 30;
/** States of a payment whose money is the system's business. */
const MONEY: ReadonlySet<number> = new Set([SUCCEEDED, REFUND_PENDING, REFUNDED]);
/** Of an unmatched payment. */
const OPEN = 0;

export const moneyAccounted: Invariant = {
  name: 'money-accounted',
  title: 'No money is kept or paid back twice',
  whatItMeans: 'By the books of the payment channel, every payment pays for one order that stands, or went back whole and once, or waits with the unmatched ones.',
  needs: ['history', 'postgres', 'channel', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(moneyAccounted, facts);
    if (!facts.channel.present || !facts.postgres.present) return tally.verdict();
    if (facts.run.load.payers === null) tally.notAsked('nobody pays in this run');
    const { charges, refunds } = channelOf(facts);
    const charged = new Set(charges.map((charge) => charge.tradeNo));
    const paidBack = grouped(refunds.filter(({ effect }) => effect === 'paid-back'), (refund) => refund.tradeNo);
    for (const refund of refunds) {
      tally.check();
      if (refund.effect === 'refused') violate(tally, null, `Trade ${refund.tradeNo} was asked back under key ${refund.refundId}, and the channel has never had it.`);
    }
    for (const charge of charges) eachCharge(facts, charge, paidBack.get(charge.tradeNo) ?? [], tally);
    neverTaken(facts, charged, tally);
    tally.remark(`${String(charges.length)} payments taken, ${String(paidBack.size)} of them went back`);
    return tally.verdict();
  },
};

const paymentsOfTrade: (facts: Facts) => ReadonlyMap<string | null, readonly PaymentRow[]> = rememberedPerFacts((facts) => grouped(postgresOf(facts).payments, (row) => row.tradeNo));
const unmatchedOfTrade: (facts: Facts) => ReadonlyMap<string, readonly UnmatchedPaymentRow[]> = rememberedPerFacts((facts) => grouped(postgresOf(facts).unmatchedPayments, (row) => row.tradeNo));

function violate(tally: Tally, orderId: string | null, claim: string, severity = 1): void {
  tally.violation({ kind: 'order', id: orderId ?? 'none', severity, subject: { orderId }, claim });
}

function eachCharge(facts: Facts, charge: ChannelCharge, paidBack: readonly ChannelRefund[], tally: Tally): void {
  const { tradeNo, provider, orderId, amount, currency } = charge;
  tally.check();
  if (paidBack.length > 1) violate(tally, orderId, `Trade ${tradeNo} was paid back ${String(paidBack.length)} times, under the keys ${inShort(paidBack.map(({ refundId }) => refundId), 3)}.`, paidBack.length);
  for (const refund of paidBack) {
    if (refund.amount !== amount || refund.currency !== currency) violate(tally, orderId, `Of trade ${tradeNo} over ${amount} ${currency} went back ${refund.amount} ${refund.currency}.`);
  }
  // What the channel called failed books no money: it may still come, or stand among the unmatched.
  const payments = (paymentsOfTrade(facts).get(tradeNo) ?? []).filter((row) => row.provider === provider && MONEY.has(row.status));
  // A trade that is told again for another order is the same money.
  const unmatched = (unmatchedOfTrade(facts).get(tradeNo) ?? []).filter((row) => row.provider === provider && row.reason !== 'TRADE_OF_ANOTHER_ORDER');
  for (const payment of payments) eachPayment(facts, charge, payment, paidBack, tally);
  for (const row of unmatched) eachUnmatched(charge, row, paidBack.length > 0, tally);
  if (payments.length + unmatched.length === 0) notBooked(facts, charge, tally);
}

function eachPayment(facts: Facts, charge: ChannelCharge, payment: PaymentRow, paidBack: readonly ChannelRefund[], tally: Tally): void {
  const { tradeNo, amount, currency } = charge;
  const { orderId, status } = payment;
  const wentBack = paidBack.length > 0;
  const what = `Payment ${payment.paymentId} of trade ${tradeNo} is ${stateName(PAYMENT_STATES, status)}`;
  if (payment.amount !== amount || payment.currency !== currency) violate(tally, orderId, `Trade ${tradeNo} brought ${amount} ${currency} and is booked as ${payment.amount} ${payment.currency}.`);
  if (orderId !== charge.orderId) violate(tally, orderId, `Trade ${tradeNo} was paid for order ${charge.orderId} and is booked for order ${orderId}.`);
  if (charge.paymentId !== null && charge.paymentId !== payment.paymentId) violate(tally, orderId, `Trade ${tradeNo} was paid as payment ${charge.paymentId} and is booked as payment ${payment.paymentId}.`);
  // The payment's own id is the key that keeps the channel from paying twice: another key would not.
  const key = paidBack.find(({ refundId }) => refundId !== payment.paymentId)?.refundId;
  if (key !== undefined) violate(tally, orderId, `Trade ${tradeNo} of payment ${payment.paymentId} was paid back under the key ${key}, which keeps nobody from paying it back again.`);
  if (status === SUCCEEDED) {
    const order = ordersById(facts).get(orderId)?.[0];
    if (wentBack) violate(tally, orderId, `${what}, and the channel has paid its money back.`);
    else if (order?.status !== PAID) violate(tally, orderId, `${what}, and its order is ${order === undefined ? 'not there' : stateName(ORDER_STATES, order.status)}: its money is kept.`);
  } else if (status === REFUNDED) {
    if (!wentBack) violate(tally, orderId, `${what}, and the channel was never asked for its money.`);
  } else pendingRefund(facts, payment, what, tally);
}

/** It may be on its way only while the system is at work on it. */
function pendingRefund(facts: Facts, payment: PaymentRow, what: string, tally: Tally): void {
  const task = refundTaskOf(facts, payment);
  if (task.isGivenUp) violate(tally, payment.orderId, `${what}, and ${task.words}.`);
  else if (facts.settle.present && facts.settle.value.drainedUs !== null) violate(tally, payment.orderId, `${what} although the system was drained.`);
  else tally.gap('not drained: some refunds may still be on their way');
}

function eachUnmatched({ tradeNo, orderId, amount }: ChannelCharge, row: UnmatchedPaymentRow, wentBack: boolean, tally: Tally): void {
  if (row.claimedOrderId !== orderId) violate(tally, orderId, `Trade ${tradeNo} was paid for order ${orderId} and is kept as unmatched for ${row.claimedOrderId ?? 'none'}.`);
  if (row.amount !== amount) violate(tally, orderId, `Trade ${tradeNo} brought ${amount} and is kept as unmatched over ${row.amount}.`);
  if (wentBack && row.status === OPEN) violate(tally, orderId, `Trade ${tradeNo} was paid back and still stands among the unmatched payments.`);
}

/** Money that the channel has and no table knows. */
function notBooked(facts: Facts, { tradeNo, paymentId, orderId }: ChannelCharge, tally: Tally): void {
  const told = isDurablyTold(facts, tradeNo);
  const announced = postgresOf(facts).payments.find((payment) => payment.paymentId === paymentId);
  if (!told && announced === undefined) {
    tally.gap('the channel took money and could not tell anybody: nobody knows whether it would have been booked');
    return;
  }
  // A payment that was started and has no end has to be asked for, until the channel says.
  if (!told && facts.settle.present && facts.settle.value.drainedUs === null) {
    tally.gap('not drained: some payments may still be asked for');
    return;
  }
  violate(tally, announced?.orderId ?? orderId, `The channel has the money of trade ${tradeNo}, ${announced === undefined ? 'whose callback was acknowledged' : `of payment ${announced.paymentId} in state ${stateName(PAYMENT_STATES, announced.status)}`}, and it is booked nowhere.`, 2);
}

/** The system tells of money that the channel has never had. */
function neverTaken(facts: Facts, charged: ReadonlySet<string>, tally: Tally): void {
  for (const payment of postgresOf(facts).payments) {
    if (!MONEY.has(payment.status)) continue;
    tally.check();
    if (payment.tradeNo === null || !charged.has(payment.tradeNo)) {
      violate(tally, payment.orderId, `Payment ${payment.paymentId} is ${stateName(PAYMENT_STATES, payment.status)} by trade ${payment.tradeNo ?? 'none'}, which the channel has never taken.`);
    }
  }
  for (const row of postgresOf(facts).unmatchedPayments) {
    tally.check();
    if (!charged.has(row.tradeNo)) violate(tally, row.claimedOrderId, `Trade ${row.tradeNo} stands among the unmatched payments, and the channel has never taken it.`);
  }
}
