// Nothing left, and no unit can come back: true only when no order, no reservation and no free unit of PostgreSQL can bring one (a gateway tells it as FINAL_SOLD_OUT).
import { expect, test } from 'vitest';

import { ACTIVITY, SKU } from '../ledger/ledger-case.test-support.js';
import { createRequestReader } from '../ledger/request-reader.js';
import { callbackFor, codeOf, openLife, type LifeCase } from './life-case.test-support.js';

function mayReturn(fresh: LifeCase): () => Promise<boolean | null> {
  const reader = createRequestReader(fresh.ledger.configFor({}), fresh.ledger.surroundings());
  fresh.ledger.closeAtEnd(() => reader.close());
  return async () => reader.unitsMayReturn?.({ activityId: ACTIVITY, skuId: SKU }) ?? null;
}

test.each(['token', 'row'] as const)('%s: where cancels restock, every order may bring its unit back, a paid one too, and a unit that is back is on its way to Redis', async (allocator) => {
  await using fresh = await openLife({ stock: 1, allocator, rules: { restockOnCancel: true } });
  const asked = mayReturn(fresh);
  expect(await asked()).toBe(true);
  const { orderId, userId } = await fresh.order();
  expect(await asked()).toBe(true);
  expect(await codeOf(fresh.life.takeCallback(callbackFor(orderId)))).toBe('PAID');
  expect(await asked()).toBe(true);
  expect(await codeOf(fresh.life.requestRefund(orderId, userId))).toBe('REFUND_PENDING');
  expect(await asked()).toBe(true);
  const { paymentId } = await fresh.ledger.one<{ paymentId: string }>('select payment_id as "paymentId" from payment_record');
  expect((await fresh.life.completeRefund(paymentId, true)).outcome).toBe('done');
  expect(await fresh.status('orders', orderId)).toBe(50);
  expect(await asked()).toBe(true);
});

test.each(['token', 'row'] as const)('%s: where cancels withdraw, only a reservation without its end may bring a unit back', async (allocator) => {
  await using fresh = await openLife({ stock: 2, allocator, rules: { restockOnCancel: false } });
  const asked = mayReturn(fresh);
  const [paid, ended] = await fresh.orders(2);
  if (paid === undefined || ended === undefined) throw new Error('two orders');
  expect(await asked()).toBe(false);
  await fresh.life.takeCallback(callbackFor(paid.orderId));
  expect(await codeOf(fresh.life.cancel(ended.orderId, ended.userId))).toBe('CANCELLED');
  expect(await asked()).toBe(false);
  for (const status of [0, 30, 60]) {
    await fresh.ledger.client.query('update inventory_reservation set status = $1 where reservation_id = $2', [status, paid.reservationId]);
    expect(await asked()).toBe(true);
    await fresh.ledger.client.query('update inventory_reservation set status = 10 where reservation_id = $1', [paid.reservationId]);
  }
  expect(await asked()).toBe(false);
});
