/** What the payment role told payers and the channel, against what was committed by then. */
import type { Facts } from '../facts/facts.js';
import type { PayerTelling } from '../facts/history.js';
import { wallToMonoUs } from '../facts/timeline.js';
import { commitHistoryOf } from './commit-history.js';
import { ordersById, postgresOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';
import { ORDER_STATES, stateName } from './state-tables.js';

/** Order states, any of which must have been committed before the answer was given. */
const STATES_CLAIMED: Readonly<Record<string, readonly number[]>> = { PAYING: [20, 30], PAID: [30], CANCELLED: [40], ORDER_PAID: [30] };
/** Payment states, any of which the trade that was told of must have. */
const TRADES_CLAIMED: Readonly<Record<string, readonly number[]>> = { PAID: [20, 40, 50], REFUND_PENDING: [40, 50], REFUNDED: [50] };

/** Answers after which the channel may forget a callback about money that came: from then on the money is the system's business. */
const DURABLE: ReadonlySet<string> = new Set(['PAID', 'REFUND_PENDING', 'REFUNDED', 'UNMATCHED']);

/** Callbacks about money that came and that the system has acknowledged for good. */
export const acknowledgedMoney: (facts: Facts) => readonly PayerTelling[] = rememberedPerFacts((facts) =>
  facts.history.present
    ? facts.history.value.payerTellings.filter((told) => told.act === 'callback' && told.channelSays === 'SUCCEEDED' && told.channelTradeNo !== null && DURABLE.has(told.code ?? ''))
    : []);

const acknowledgedTrades: (facts: Facts) => ReadonlySet<string | null> = rememberedPerFacts((facts) => new Set(acknowledgedMoney(facts).map((told) => told.channelTradeNo)));

export function isDurablyTold(facts: Facts, tradeNo: string): boolean {
  return acknowledgedTrades(facts).has(tradeNo);
}

/** Why the answer claims more than the stores can prove; null when it does not. Answers without a code claim nothing. */
export function payerLie(facts: Facts, told: PayerTelling): string | null {
  if (told.code === null || told.answeredUs === null) return null;
  const states = STATES_CLAIMED[told.code];
  return (states === undefined ? null : orderProblem(facts, told, states, told.answeredUs)) ?? (told.act === 'callback' ? tradeProblem(facts, told) : null);
}

function orderProblem(facts: Facts, told: PayerTelling, states: readonly number[], answeredUs: number): string | null {
  const order = ordersById(facts).get(told.orderId)?.[0];
  if (order === undefined) return 'there is no such order';
  if (!facts.commitLog.present) return null;
  const names = states.map((state) => stateName(ORDER_STATES, state)).join(' or ');
  const step = commitHistoryOf(facts).orders.get(told.orderId)?.find((candidate) => states.includes(candidate.status));
  if (step === undefined) return `the order was never ${names}`;
  const early = wallToMonoUs(facts.run.clock, step.transaction.committedAtUs) - facts.run.clock.boundUs - answeredUs;
  return early > 0 ? `the order became ${names} at least ${(early / 1000).toFixed(1)} ms later` : null;
}

function namedElsewhere(facts: Facts, told: PayerTelling): boolean {
  return facts.history.present && facts.history.value.payerTellings.some((other) => other.channelTradeNo === told.channelTradeNo && other.orderId !== told.orderId);
}

function tradeProblem(facts: Facts, told: PayerTelling): string | null {
  const { payments, unmatchedPayments } = postgresOf(facts);
  const isTrade = (row: { readonly tradeNo: string | null }): boolean => row.tradeNo === told.channelTradeNo;
  if (told.code === 'UNMATCHED') {
    const kept = unmatchedPayments.some((row) => isTrade(row) && row.claimedOrderId === told.orderId);
    // A trade that was told of two orders is one movement of money: it is kept once, for the first.
    return kept || payments.some((payment) => isTrade(payment) && payment.orderId !== told.orderId) || namedElsewhere(facts, told) ? null : 'no such money is kept as unmatched';
  }
  const states = TRADES_CLAIMED[told.code ?? ''];
  if (states === undefined) return null;
  const payment = payments.find((candidate) => isTrade(candidate) && candidate.orderId === told.orderId);
  if (payment === undefined) return `trade ${String(told.channelTradeNo)} is booked for no payment of the order`;
  return states.includes(payment.status) ? null : `payment ${payment.paymentId} of this trade is in state ${String(payment.status)}`;
}
