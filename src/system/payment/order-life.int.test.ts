// Orders paid, ended and refunded on a real PostgreSQL, both allocators, both rules: the tables after each way through the state table.
import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { answerOf, callbackFor, codeOf, expectBalanced, openLife, PRICE, type LifeCase } from './life-case.test-support.js';

const eventsOf = async ({ ledger }: LifeCase, reservationId: string): Promise<unknown[]> => (await ledger.client.query<{ e: unknown }>(
  `select jsonb_build_array(tag, aggregate_version, payload->>'reason', payload->'returnsUnit', payload->'clearsUserMark') as e
     from event_outbox where aggregate_id = $1 and tag <> 'ORDER_CLOSE_DUE' order by aggregate_version`, [reservationId])).rows.map(({ e }) => e);

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  test('pay: the order, its payment, its unit, one SOLD entry that moves nothing, one event', async () => {
    await using fresh = await openLife({ stock: 2, allocator });
    const { orderId, userId, reservationId } = await fresh.order();
    const started = answerOf(await fresh.life.startPaying(orderId, userId, 'fake'));
    expect(started).toMatchObject({ code: 'PAYING', orderStatus: 20, amount: String(PRICE), currency: 'CNY', repeated: false });
    expect(answerOf(await fresh.life.startPaying(orderId, userId, 'fake'))).toMatchObject({ code: 'PAYING', paymentId: started.paymentId, repeated: true });
    const success = callbackFor(orderId, { paymentId: started.paymentId });
    expect(answerOf(await fresh.life.takeCallback(success))).toMatchObject({ code: 'PAID', paymentId: started.paymentId, orderStatus: 30, repeated: false });
    expect(answerOf(await fresh.life.takeCallback(success))).toMatchObject({ code: 'PAID', repeated: true });
    expect(answerOf(await fresh.life.takeCallback({ ...success, callbackId: randomUUID() }))).toMatchObject({ code: 'PAID', repeated: true });

    expect(await fresh.ledger.one('select status, provider_trade_no, paid_at is not null as paid from payment_record')).toEqual({ status: 20, provider_trade_no: success.tradeNo, paid: true });
    expect(await fresh.ledger.one("select ledger_type, available_delta, allocated_delta, reason from inventory_ledger where idempotency_key = 'SOLD:' || $1", [reservationId]))
      .toEqual({ ledger_type: 30, available_delta: 0, allocated_delta: 0, reason: 'PAID' });
    if (allocator === 'token') expect(await fresh.ledger.count('inventory_token', 'status = 20')).toBe(1);
    expect(await eventsOf(fresh, reservationId)).toEqual([['ORDER_CREATED', 1, null, false, false], ['ORDER_PAID', 2, null, false, false]]);
    expect(await codeOf(fresh.life.cancel(orderId, userId))).toBe('ORDER_PAID');
    expect(await codeOf(fresh.life.startPaying(orderId, userId, 'fake'))).toBe('ORDER_PAID');
    await expectBalanced(fresh);
  });

  test.each([[true, true], [true, false], [false, true], [false, false]])('cancel: restock %s, buying again %s', async (restockOnCancel, rebuyAfterCancel) => {
    await using fresh = await openLife({ stock: 2, allocator, rules: { restockOnCancel, rebuyAfterCancel } });
    const { orderId, userId, reservationId } = await fresh.order();
    expect(answerOf(await fresh.life.cancel(orderId, userId))).toMatchObject({ code: 'CANCELLED', orderStatus: 40, reason: 'USER_CANCELLED', repeated: false });
    expect(answerOf(await fresh.life.cancel(orderId, userId))).toMatchObject({ code: 'CANCELLED', repeated: true });
    expect(await eventsOf(fresh, reservationId)).toEqual([
      ['ORDER_CREATED', 1, null, false, false],
      ['ORDER_CANCELLED', 2, 'USER_CANCELLED', false, false],
      ['RESERVATION_RELEASED', 3, 'USER_CANCELLED', restockOnCancel, rebuyAfterCancel],
    ]);
    expect(await fresh.ledger.count('inventory_ledger', 'ledger_type = 20')).toBe(restockOnCancel ? 1 : 0);
    await expectBalanced(fresh);
    if (!rebuyAfterCancel) {
      await expect(fresh.order(userId)).rejects.toThrow('REJECTED_DUPLICATE_USER');
      return;
    }
    const again = await fresh.order(userId);
    expect(await fresh.ledger.one('select purchase_no from orders where order_id = $1', [again.orderId])).toEqual({ purchase_no: 2 });
    await expect(fresh.order(userId)).rejects.toThrow('REJECTED_DUPLICATE_USER');
    await expectBalanced(fresh);
  });

  test('expire: only what is unpaid and really over; the rest of the page is left alone', async () => {
    await using fresh = await openLife({ stock: 9, allocator });
    const [due, paid, alive, paying] = await fresh.orders(4);
    if (due === undefined || paid === undefined || alive === undefined || paying === undefined) throw new Error('four orders');
    await fresh.life.startPaying(paying.orderId, paying.userId, 'fake');
    await fresh.life.takeCallback(callbackFor(paid.orderId));
    await fresh.ledger.client.query("update orders set expire_at = now() - interval '1 second' where order_id <> $1", [alive.orderId]);
    const page = [due, paid, alive, paying].map(({ orderId }) => orderId);
    const closed = await fresh.life.closeExpired([...page, '1']);
    expect(closed.outcome === 'done' && closed.value.map(({ orderId }) => orderId).toSorted()).toEqual([due.orderId, paying.orderId].toSorted());
    expect(await fresh.life.closeExpired(page)).toEqual({ outcome: 'done', value: [] });
    expect(await Promise.all(page.map((orderId) => fresh.status('orders', orderId)))).toEqual([40, 30, 10, 40]);
    expect(await fresh.ledger.count('orders', "cancel_reason = 'PAY_TIMEOUT'")).toBe(2);
    expect(answerOf(await fresh.life.cancel(due.orderId, due.userId))).toMatchObject({ code: 'CANCELLED', reason: 'PAY_TIMEOUT', repeated: true });
    await expectBalanced(fresh);
    // The units are on sale again, all of them.
    await fresh.orders(7);
    await expectBalanced(fresh);
  });

  test('money after the end goes back, and the order stays as it is', async () => {
    await using fresh = await openLife({ stock: 1, allocator });
    const { orderId, userId } = await fresh.order();
    const { paymentId } = answerOf(await fresh.life.startPaying(orderId, userId, 'fake'));
    await fresh.timePasses();
    expect(await codeOf(fresh.life.startPaying(orderId, userId, 'fake'))).toBe('ORDER_ENDED');
    await fresh.life.closeExpired([orderId]);
    const late = callbackFor(orderId, { paymentId });
    expect(answerOf(await fresh.life.takeCallback(late))).toMatchObject({ code: 'REFUND_PENDING', paymentId, orderStatus: 40, reason: 'PAY_TIMEOUT' });
    expect(answerOf(await fresh.life.takeCallback({ ...late, callbackId: randomUUID() }))).toMatchObject({ code: 'REFUND_PENDING', repeated: true });
    expect(await fresh.ledger.one('select task_type, order_id, status, payload from compensation_task')).toEqual({ task_type: 20, order_id: orderId, status: 0, payload: { paymentId, closesOrder: false } });
    expect(await fresh.life.completeRefund(String(paymentId), false)).toEqual({ outcome: 'done', value: null });
    expect(await fresh.life.completeRefund(String(paymentId), false)).toEqual({ outcome: 'done', value: null });
    expect(await fresh.ledger.one('select o.status, p.status as payment, o.paid_at from orders o join payment_record p using (order_id)')).toEqual({ status: 40, payment: 50, paid_at: null });
    await expectBalanced(fresh);
  });

  test.each([true, false])('refund of a paid order: the unit is held until the money is back; restock %s', async (restockOnCancel) => {
    await using fresh = await openLife({ stock: 3, allocator, rules: { restockOnCancel } });
    const { orderId, userId, reservationId } = await fresh.order();
    expect(await codeOf(fresh.life.requestRefund(orderId, userId))).toBe('NOT_PAID');
    const { paymentId } = answerOf(await fresh.life.takeCallback(callbackFor(orderId)));
    // A second payment of the same order goes back by itself, and does not close the order.
    const { paymentId: second } = answerOf(await fresh.life.takeCallback(callbackFor(orderId)));
    expect(answerOf(await fresh.life.requestRefund(orderId, userId))).toMatchObject({ code: 'REFUND_PENDING', paymentId, orderStatus: 60 });
    expect(answerOf(await fresh.life.requestRefund(orderId, userId))).toMatchObject({ code: 'REFUND_PENDING', repeated: true });
    await fresh.life.completeRefund(String(second), false);
    expect([await fresh.status('orders', orderId), await fresh.status('inventory_reservation', reservationId)]).toEqual([60, 30]);
    await expectBalanced(fresh);
    await fresh.life.completeRefund(String(paymentId), true);
    await fresh.life.completeRefund(String(paymentId), true);
    expect([await fresh.status('orders', orderId), await fresh.status('inventory_reservation', reservationId)]).toEqual([50, 40]);
    expect((await eventsOf(fresh, reservationId)).at(-1)).toEqual(['RESERVATION_RELEASED', 5, 'REFUNDED', restockOnCancel, false]);
    expect(await codeOf(fresh.life.requestRefund(orderId, userId))).toBe('REFUNDED');
    expect(await fresh.ledger.count('compensation_task')).toBe(2);
    await expectBalanced(fresh);
  });
});

test('somebody else\'s order is not paid for, not shown and not cancelled; an unknown one is not there', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { orderId } = await fresh.order();
  for (const ask of [fresh.life.look, fresh.life.cancel, fresh.life.requestRefund]) {
    expect(await codeOf(ask(orderId, '1'))).toBe('FORBIDDEN');
    expect(await codeOf(ask('1', '1'))).toBe('NOT_FOUND');
  }
  expect(await codeOf(fresh.life.startPaying(orderId, '1', 'fake'))).toBe('FORBIDDEN');
  expect(await fresh.status('orders', orderId)).toBe(10);
});

test('money that fits no order is kept once per trade and never pays', async () => {
  await using fresh = await openLife({ stock: 2 });
  const [one, other] = await fresh.orders(2);
  if (one === undefined || other === undefined) throw new Error('two orders');
  const unknown = callbackFor('77');
  const wrong = callbackFor(one.orderId, { amount: PRICE - 1 });
  for (const callback of [unknown, { ...unknown, callbackId: randomUUID() }, callbackFor('no number'), wrong, callbackFor(one.orderId, { currency: 'USD' })]) {
    expect(await codeOf(fresh.life.takeCallback(callback))).toBe('UNMATCHED');
  }
  // The same trade with the right amount: the channel contradicts itself, and a human has to look.
  expect(answerOf(await fresh.life.takeCallback({ ...wrong, callbackId: randomUUID(), amount: PRICE }))).toMatchObject({ code: 'CONTRADICTION', reason: 'TRADE_TOLD_DIFFERENTLY' });
  const paid = callbackFor(other.orderId);
  expect(await codeOf(fresh.life.takeCallback(paid))).toBe('PAID');
  expect(answerOf(await fresh.life.takeCallback({ ...paid, callbackId: randomUUID(), orderId: one.orderId }))).toMatchObject({ code: 'UNMATCHED', reason: 'TRADE_OF_ANOTHER_ORDER' });
  expect((await fresh.ledger.client.query<{ reason: string }>('select reason from unmatched_payment order by 1')).rows.map(({ reason }) => reason))
    .toEqual(['AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'TRADE_OF_ANOTHER_ORDER', 'UNKNOWN_ORDER', 'UNKNOWN_ORDER']);
  expect(await codeOf(fresh.life.takeCallback(callbackFor('78', { status: 'FAILED' })))).toBe('UNMATCHED');
  expect(await fresh.ledger.count('unmatched_payment')).toBe(5);
  expect(await fresh.status('orders', one.orderId)).toBe(10);
  await expectBalanced(fresh);
});

test('a channel that contradicts itself: failed after success undoes nothing, success after failed is believed', async () => {
  await using fresh = await openLife({ stock: 2 });
  const [one, other] = await fresh.orders(2);
  if (one === undefined || other === undefined) throw new Error('two orders');
  const success = callbackFor(one.orderId);
  await fresh.life.takeCallback(success);
  const denial = { ...success, callbackId: randomUUID(), status: 'FAILED' } as const;
  expect(answerOf(await fresh.life.takeCallback(denial))).toMatchObject({ code: 'CONTRADICTION', orderStatus: 30 });
  expect(answerOf(await fresh.life.takeCallback({ ...denial, callbackId: randomUUID(), status: 'PENDING' }))).toMatchObject({ code: 'PAID', repeated: true });
  expect(answerOf(await fresh.life.takeCallback({ ...success, amount: 1 }))).toMatchObject({ code: 'CONTRADICTION', reason: 'CALLBACK_ID_REUSED' });
  expect(await fresh.status('orders', one.orderId)).toBe(30);
  expect(await fresh.ledger.count('payment_callback')).toBe(3);

  const { paymentId } = answerOf(await fresh.life.startPaying(other.orderId, other.userId, 'fake'));
  const failure = callbackFor(other.orderId, { status: 'FAILED' });
  expect(await codeOf(fresh.life.takeCallback({ ...failure, callbackId: randomUUID(), status: 'PENDING' }))).toBe('UNKNOWN');
  expect(await codeOf(fresh.life.takeCallback(failure))).toBe('FAILED');
  expect(await fresh.status('orders', other.orderId)).toBe(20);
  expect(answerOf(await fresh.life.takeCallback({ ...failure, callbackId: randomUUID(), status: 'SUCCEEDED' }))).toMatchObject({ code: 'PAID', paymentId });
  await expectBalanced(fresh);
});

test('after a failed payment the user tries again, with a new payment of the same order', async () => {
  await using fresh = await openLife({ stock: 1 });
  const { orderId, userId } = await fresh.order();
  const { paymentId: first } = answerOf(await fresh.life.startPaying(orderId, userId, 'fake'));
  await fresh.life.takeCallback(callbackFor(orderId, { status: 'FAILED', paymentId: first }));
  const { paymentId: second, repeated } = answerOf(await fresh.life.startPaying(orderId, userId, 'fake'));
  expect([repeated, second === first]).toEqual([false, false]);
  expect(answerOf(await fresh.life.takeCallback(callbackFor(orderId, { paymentId: second })))).toMatchObject({ code: 'PAID', paymentId: second });
  await expectBalanced(fresh);
});
