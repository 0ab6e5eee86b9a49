// Payment, close and cancel at once on the same orders (paper 001 §7.6, §13.2): exactly one wins. And beside the consumer: nobody waits in a ring.
import { randomUUID } from 'node:crypto';

import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';

import { silentStepObserver } from '../../domain/steps.js';
import { atStep, committed, consumerLink, messages } from '../ledger/ledger-case.test-support.js';
import { answerOf, callbackFor, codeOf, expectBalanced, openLife, type LifeCase } from './life-case.test-support.js';
import { createOrderLife } from './order-life.js';
import type { LifeOutcome, OrderLife } from './order-life-port.js';

/** As a channel or a closer does: the same again until it is done. */
async function decided<Value>(call: () => Promise<LifeOutcome<Value>>): Promise<Value> {
  for (;;) {
    const end = await call();
    if (end.outcome === 'done') return end.value;
    if (end.outcome === 'refused') throw new Error(end.reason);
  }
}

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  test('pay, close and cancel at once, two hundred orders: one end each, and late money goes back', async () => {
    await using fresh = await openLife({ stock: 200, allocator });
    const orders = await fresh.orders(200);
    await fresh.timePasses();
    const [payer, closer] = [fresh.anotherLife('payment-2'), fresh.anotherLife('closer-1')];
    const pages = Array.from({ length: 10 }, (_, page) => orders.slice(page * 20, (page + 1) * 20).map(({ orderId }) => orderId));
    await Promise.all([
      ...orders.map(({ orderId }) => decided(() => payer.takeCallback(callbackFor(orderId, { callbackId: `c-${orderId}`, tradeNo: `t-${orderId}` })))),
      ...orders.filter((_order, place) => place % 5 === 0).map(({ orderId, userId }) => decided(() => fresh.life.cancel(orderId, userId))),
      ...pages.map(async (page, place) => {
        // Spread over the time that the payments take, so that both win some.
        await new Promise((resolve) => setTimeout(resolve, place * 30));
        return decided(() => closer.closeExpired(page));
      }),
    ]);
    const ends = await fresh.ledger.client.query<{ status: number; payment: number; n: number }>('select o.status, p.status as payment, count(*)::int as n from orders o join payment_record p using (order_id) group by 1, 2 order by 1');
    expect(ends.rows.map(({ status, payment }) => [status, payment])).toEqual([[30, 20], [40, 40]]);
    expect(ends.rows.reduce((sum, { n }) => sum + n, 0)).toBe(200);
    expect(await fresh.ledger.count('compensation_task', 'task_type = 20')).toBe(ends.rows[1]?.n);
    expect(await fresh.ledger.count('orders', 'status = 40 and paid_at is not null')).toBe(0);
    await expectBalanced(fresh);
  });

  test('one callback fifty times at once, and its trade under fifty callback ids: paid once', async () => {
    await using fresh = await openLife({ stock: 2, allocator });
    const [one, other] = await fresh.orders(2);
    if (one === undefined || other === undefined) throw new Error('two orders');
    const lives = [fresh.life, fresh.anotherLife('payment-2')] as const;
    const same = callbackFor(one.orderId);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, place) => decided(() => lives[place % 2 === 0 ? 0 : 1].takeCallback(same))));
    expect(answers.filter(({ code, repeated }) => code === 'PAID' && !repeated)).toHaveLength(1);
    expect(answers.every(({ code }) => code === 'PAID')).toBe(true);
    const trade = callbackFor(other.orderId);
    const others = await Promise.all(Array.from({ length: 50 }, (_, place) => decided(() => lives[place % 2 === 0 ? 0 : 1].takeCallback({ ...trade, callbackId: randomUUID() }))));
    expect(others.filter(({ code, repeated }) => code === 'PAID' && !repeated)).toHaveLength(1);
    expect([await fresh.ledger.count('payment_record'), await fresh.ledger.count('inventory_ledger', 'ledger_type = 30')]).toEqual([2, 2]);
    await expectBalanced(fresh);
  });

  test('two closers with the same pages close each order once', async () => {
    await using fresh = await openLife({ stock: 300, allocator });
    const orders = await fresh.orders(300);
    await fresh.timePasses();
    const closers = [fresh.anotherLife('closer-1'), fresh.anotherLife('closer-2')];
    const pages = Array.from({ length: 6 }, (_, page) => orders.slice(page * 50, (page + 1) * 50).map(({ orderId }) => orderId));
    const closed = await Promise.all(closers.flatMap((closer, which) => (which === 0 ? pages : pages.toReversed()).map((page) => decided(() => closer.closeExpired(page)))));
    expect(closed.flat()).toHaveLength(300);
    expect(await fresh.ledger.count('inventory_ledger', 'ledger_type = 20')).toBe(300);
    await expectBalanced(fresh);
  });

  test('beside the consumer: doubled messages, new orders of the same users and closes, without a deadlock', async () => {
    await using fresh = await openLife({ stock: 400, allocator, rules: { rebuyAfterCancel: true } });
    const first = messages(150);
    const ledger = fresh.ledger.ledger();
    const placed = committed(await ledger.createOrders(first)).map(({ orderId }) => String(orderId));
    await fresh.timePasses();
    const retries: string[] = [];
    const closer = createOrderLife(fresh.ledger.configFor({ instance: 'closer-1' }), fresh.ledger.surroundings(silentStepObserver), { onRetry: (cause) => retries.push(cause) });
    fresh.ledger.closeAtEnd(() => closer.close());
    const slice = <Item>(items: readonly Item[], part: number): Item[] => items.slice(part * 15, (part + 1) * 15);
    await Promise.all(Array.from({ length: 10 }, (_, part) => [
      decided(() => closer.closeExpired(slice(placed, part))),
      // The same reservations again, in another sequence, with more of the hot row behind them.
      ledger.createOrders([...slice(first, part).toReversed().map((message) => ({ ...message, messageId: uuidv7() })), ...messages(5)]),
      ledger.createOrders(slice(first, part).map((message) => ({ ...message, messageId: uuidv7(), reservationId: uuidv7(), requestId: `again-${message.requestId}` }))),
    ]).flat());
    expect(await fresh.ledger.metric('seckill_order_transaction_retries_total', 'cause="40P01"')).toBe(0);
    expect(retries.filter((cause) => cause === '40P01')).toEqual([]);
    await expectBalanced(fresh);
  });
});

test.each(['payment.after-record', 'payment.before-commit'] as const)('a crash at %s leaves nothing; the repeat pays', async (step) => {
  await using fresh = await openLife({ stock: 1 });
  const { orderId } = await fresh.order();
  const crashing = fresh.anotherLife('payment-2', atStep(step, () => {
    throw new Error('crash');
  }));
  const callback = callbackFor(orderId);
  expect((await crashing.takeCallback(callback)).outcome).toBe('unavailable');
  expect([await fresh.status('orders', orderId), await fresh.ledger.count('payment_record'), await fresh.ledger.count('payment_callback')]).toEqual([10, 0, 0]);
  expect(answerOf(await fresh.life.takeCallback(callback))).toMatchObject({ code: 'PAID', repeated: false });
  await expectBalanced(fresh);
});

test.each(['closer.after-close', 'closer.after-release', 'closer.before-commit'] as const)('a crash at %s closes nothing; the next closer does', async (step) => {
  await using fresh = await openLife({ stock: 2 });
  const [one, other] = await fresh.orders(2);
  if (one === undefined || other === undefined) throw new Error('two orders');
  await fresh.timePasses();
  const crashing = fresh.anotherLife('closer-1', atStep(step, () => {
    throw new Error('crash');
  }));
  expect((await crashing.closeExpired([one.orderId, other.orderId])).outcome).toBe('unavailable');
  expect(await fresh.ledger.count('orders', 'status = 10')).toBe(2);
  await expectBalanced(fresh);
  expect(await fresh.life.closeExpired([one.orderId, other.orderId])).toMatchObject({ outcome: 'done', value: [{}, {}] });
  await expectBalanced(fresh);
});

test.each([['downstream', true], ['upstream', false]] as const)('COMMIT without an answer (%s) is unknown; the same callback again tells', async (stream, wasCommitted) => {
  await using fresh = await openLife({ stock: 1, tuning: { postgresPoolSize: 1 } });
  const { orderId } = await fresh.order();
  const callback = callbackFor(orderId);
  const end = await cutAtCommit(fresh, stream, (life) => life.takeCallback(callback));
  expect(end.outcome).toBe('unknown');
  expect(await fresh.status('orders', orderId)).toBe(wasCommitted ? 30 : 10);
  expect(answerOf(await fresh.life.takeCallback(callback))).toMatchObject({ code: 'PAID', repeated: wasCommitted });
  expect(await codeOf(fresh.life.takeCallback({ ...callback, callbackId: randomUUID() }))).toBe('PAID');
  await expectBalanced(fresh);
});

async function cutAtCommit<Value>(fresh: LifeCase, stream: 'upstream' | 'downstream', call: (life: OrderLife) => Promise<Value>): Promise<Value> {
  const proxy = await consumerLink().proxy();
  let heal: () => Promise<unknown> = () => Promise.resolve();
  const life = fresh.anotherLife('payment-2', atStep('payment.before-commit', async () => {
    const toxic = await proxy.addToxic({ name: 'cut', type: 'limit_data', stream, toxicity: 1, attributes: { bytes: 0 } });
    heal = () => toxic.remove();
  }), true);
  try {
    return await call(life);
  } finally {
    await heal();
  }
}
