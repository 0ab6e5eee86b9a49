// The channel is asked until its answer is written down or it is sure that nobody paid: no question is the last one.
import { expect, test } from 'vitest';

import { loadStatements } from '../ledger/sql-loader.js';
import { openLife, answerOf, type LifeCase, type PlacedOrder } from './life-case.test-support.js';
import type { OrderLife } from './order-life-port.js';
import type { ChannelState, PaymentChannel } from './payment-channel-port.js';
import { askAboutPayments } from './payment-poller.js';

interface Asking {
  readonly fresh: LifeCase;
  readonly order: PlacedOrder;
  readonly paymentId: string;
  readonly logs: string[];
  /** Makes the next question due, and asks. */
  ask(state: ChannelState, life?: OrderLife): Promise<void>;
  /** Seconds until the next question; null: none. */
  nextInSeconds(): Promise<number | null>;
}

async function openAsking(fresh: LifeCase): Promise<Asking> {
  const order = await fresh.order();
  const { paymentId } = answerOf(await fresh.life.startPaying(order.orderId, order.userId, 'fake'));
  const logs: string[] = [];
  return {
    fresh, order, logs, paymentId: paymentId ?? '',
    async ask(state, life = fresh.life) {
      await fresh.ledger.client.query('update payment_record set next_query_at = now() where next_query_at is not null');
      const channel: PaymentChannel = { query: () => Promise.resolve(state), refund: () => Promise.reject(new Error('not here')), close: () => Promise.resolve() };
      await askAboutPayments({ life, channel, log: (level, text) => { logs.push(`${level}: ${text}`); }, onAsked: () => undefined });
    },
    nextInSeconds: async () => (await fresh.ledger.one<{ left: number | null }>('select extract(epoch from next_query_at - now())::float8 as left from payment_record')).left,
  };
}

const NO_ANSWER: ChannelState = { outcome: 'no-answer', reason: 'x' };
const unresolved = async ({ ledger }: LifeCase): Promise<number> =>
  (await ledger.client.query<{ unresolved_payments: number }>(loadStatements().count_business.text, [ledger.config.activityId])).rows[0]?.unresolved_payments ?? -1;

test('after any number of questions there is a next one, at the longest wait; a human is told, and the gauge counts it', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { ask, nextInSeconds, logs } = await openAsking(fresh);
  for (let question = 1; question < 10; question += 1) await ask(NO_ANSWER);
  expect(await unresolved(fresh)).toBe(0);
  await ask(NO_ANSWER);
  expect(await unresolved(fresh)).toBe(1);
  expect(logs).toEqual(['error: a payment stays unknown: a human has to ask the channel']);
  const longest = (fresh.ledger.config.tuning.paymentQueryAfterMs * 16) / 1_000;
  for (const asked of [30, 100, 2_000_000_000]) {
    await fresh.ledger.client.query('update payment_record set query_count = $1', [asked]);
    await ask(NO_ANSWER);
    expect(await nextInSeconds()).toBeGreaterThan(longest / 2);
    expect(await nextInSeconds()).toBeLessThanOrEqual(longest);
  }
});

test.each(['unavailable', 'unknown'] as const)('money told at the thirtieth question, and PostgreSQL does not take it (%s): the next question books it', async (outcome) => {
  await using fresh = await openLife({ stock: 1 });
  const { ask, order, paymentId } = await openAsking(fresh);
  const paid: ChannelState = { outcome: 'told', status: 'SUCCEEDED', tradeNo: 't-1', orderId: order.orderId, amount: 9_900, currency: 'CNY' };
  await fresh.ledger.client.query('update payment_record set query_count = 29');
  await ask(paid, { ...fresh.life, takeCallback: () => Promise.resolve({ outcome, reason: 'x' }) });
  expect(await fresh.status('orders', order.orderId)).toBe(20);
  await ask(paid);
  expect(await fresh.status('orders', order.orderId)).toBe(30);
  expect(await fresh.ledger.count('payment_record', `payment_id = '${paymentId}' and status = 20 and next_query_at is null`)).toBe(1);
});

test('a payment that the channel has never heard of is asked about as long as its order can be paid, and for a while after its end', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { ask, order, nextInSeconds, logs } = await openAsking(fresh);
  await fresh.ledger.client.query('update payment_record set query_count = 40');
  await ask({ outcome: 'never-heard' });
  expect(await nextInSeconds()).not.toBeNull();
  expect(await unresolved(fresh)).toBe(0);
  await fresh.life.cancel(order.orderId, order.userId);
  await ask({ outcome: 'never-heard' });
  expect(await nextInSeconds()).not.toBeNull();
  await fresh.ledger.client.query("update orders set updated_at = now() - interval '1 day'");
  await ask(NO_ANSWER);
  expect(await nextInSeconds()).not.toBeNull();
  await ask({ outcome: 'never-heard' });
  expect(await nextInSeconds()).toBeNull();
  expect(await unresolved(fresh)).toBe(0);
  expect(logs).toEqual(['info: the channel never heard of a payment whose order has ended: nobody paid']);
});

test('an answer that fits no order as it should is told to a human, once', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { ask, order, logs } = await openAsking(fresh);
  const wrong: ChannelState = { outcome: 'told', status: 'SUCCEEDED', tradeNo: 't-1', orderId: order.orderId, amount: 1, currency: 'CNY' };
  await ask(wrong);
  await ask(wrong);
  expect(logs).toEqual(['error: what the channel answers fits no order as it should']);
  expect(await fresh.ledger.count('unmatched_payment')).toBe(1);
});
