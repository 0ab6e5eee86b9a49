// Callbacks that went to the archive: the channel may come again all the same, and nothing is paid twice, undone or lost.
import { expect, test } from 'vitest';

import { createRetentionStore } from '../recovery/retention-store.js';
import { answerOf, callbackFor, expectBalanced, openLife } from './life-case.test-support.js';

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
