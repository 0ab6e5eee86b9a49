// Callbacks that went to the archive: the channel may come again all the same, and nothing is paid twice, undone or lost.
import { expect, test } from 'vitest';

import { createRetentionStore } from '../recovery/retention-store.js';
import { answerOf, callbackFor, codeOf, expectBalanced, openLife, PRICE, type LifeCase } from './life-case.test-support.js';

test('a callback that comes again after its archiving is known by its trade, and is archived again', async () => {
  await using fresh = await openLife({ stock: 3 });
  const [paid, ended] = await fresh.orders(2);
  if (paid === undefined || ended === undefined) throw new Error('two orders');
  const money = callbackFor(paid.orderId);
  const lateMoney = callbackFor(ended.orderId);
  const strangeMoney = callbackFor('1000000007');
  await fresh.life.cancel(ended.orderId, ended.userId);
  const first = [answerOf(await fresh.life.takeCallback(money)), answerOf(await fresh.life.takeCallback(lateMoney)), answerOf(await fresh.life.takeCallback(strangeMoney))];
  expect(first.map(({ code }) => code)).toEqual(['PAID', 'REFUND_PENDING', 'UNMATCHED']);

  const retention = createRetentionStore(fresh.ledger.configFor({ instance: 'retention-1' }), fresh.ledger.surroundings());
  fresh.ledger.closeAtEnd(() => retention.close());
  const archived = async (): Promise<number> => fresh.ledger.count('payment_callback_archive');
  await fresh.ledger.client.query("update payment_callback set received_at = now() - interval '1 hour'");
  const young = callbackFor(paid.orderId, { tradeNo: money.tradeNo });
  await fresh.life.takeCallback(young);
  expect(await retention.archiveCallbacks(1_800_000, 2)).toBe(2);
  expect(await retention.archiveCallbacks(1_800_000, 100)).toBe(1);
  expect(await retention.archiveCallbacks(1_800_000, 100)).toBe(0);
  expect([await fresh.ledger.count('payment_callback'), await archived()]).toEqual([1, 3]);

  const again = [answerOf(await fresh.life.takeCallback(money)), answerOf(await fresh.life.takeCallback(lateMoney)), answerOf(await fresh.life.takeCallback(strangeMoney))];
  expect(again.map(({ code }) => code)).toEqual(['PAID', 'REFUND_PENDING', 'UNMATCHED']);
  expect(again.slice(0, 2).every(({ repeated }) => repeated)).toBe(true);
  expect([await fresh.ledger.count('payment_record'), await fresh.ledger.count('unmatched_payment'), await fresh.ledger.count('compensation_task')]).toEqual([2, 1, 1]);
  expect(await retention.archiveCallbacks(0, 100)).toBe(4);
  expect(await archived()).toBe(7);
  await expectBalanced(fresh);
});

test.each([
  ['of another amount', { amount: PRICE + 1 }, 'CONTRADICTION'],
  ['in another currency', { currency: 'USD' }, 'CONTRADICTION'],
  ['for an order that nobody knows', { orderId: '1000000007' }, 'UNMATCHED'],
] as const)('a trade that has paid, and whose callback is in the archive, is told again %s: it is not booked twice', async (_name, change, code) => {
  await using fresh = await openLife({ stock: 1 });
  const { orderId } = await fresh.order();
  const money = callbackFor(orderId);
  expect(await codeOf(fresh.life.takeCallback(money))).toBe('PAID');
  await archiveAll(fresh);
  expect(await codeOf(fresh.life.takeCallback({ ...money, callbackId: 'later', ...change }))).toBe(code);
  expect(await fresh.ledger.count('unmatched_payment', "reason <> 'TRADE_OF_ANOTHER_ORDER'")).toBe(0);
  await expectBalanced(fresh);
});

test('money that lies with the unmatched, told again rightly after its callback went to the archive, does not pay as well', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { orderId } = await fresh.order();
  const wrong = callbackFor(orderId, { amount: PRICE - 1 });
  expect(await codeOf(fresh.life.takeCallback(wrong))).toBe('UNMATCHED');
  await archiveAll(fresh);
  expect(answerOf(await fresh.life.takeCallback({ ...wrong, callbackId: 'later', amount: PRICE }))).toMatchObject({ code: 'CONTRADICTION', reason: 'TRADE_TOLD_DIFFERENTLY' });
  expect([await fresh.ledger.count('payment_record', 'status = 20'), await fresh.ledger.count('unmatched_payment')]).toEqual([0, 1]);
  await expectBalanced(fresh);
});

async function archiveAll(fresh: LifeCase): Promise<void> {
  const retention = createRetentionStore(fresh.ledger.configFor({ instance: 'retention-1' }), fresh.ledger.surroundings());
  fresh.ledger.closeAtEnd(() => retention.close());
  await fresh.ledger.client.query("update payment_callback set received_at = now() - interval '1 hour'");
  expect(await retention.archiveCallbacks(1_800_000, 100)).toBeGreaterThan(0);
  expect(await fresh.ledger.count('payment_callback')).toBe(0);
}
