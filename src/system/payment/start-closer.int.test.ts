// The closer on a real PostgreSQL with a scripted log: messages that are early, late, doubled or no messages; the sweep; an outage; a book that forbids to close.
import { setTimeout as delay } from 'node:timers/promises';

import { v7 as uuidv7 } from 'uuid';
import { expect, test, vi } from 'vitest';

import { encodeOrderEvent, type OrderEvent } from '../../domain/order-event.js';
import type { RoleTuning } from '../../domain/role-config.js';
import { CountingContext, KeptDeadLetters, ScriptedConsumer } from '../fulfilment/scripted-consumer.test-support.js';
import { consumerLink } from '../ledger/ledger-case.test-support.js';
import type { ReceivedMessage } from '../order-log/order-log-port.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import { expectBalanced, openLife, type LifeCase, type PlacedOrder } from './life-case.test-support.js';
import { startCloser } from './start-closer.js';

/** No sweep unless a test wants one. */
const QUIET: Partial<RoleTuning> = { closerSweepIntervalMs: 600_000, closerSweepGraceMs: 600_000 };

interface Closer {
  readonly consumer: ScriptedConsumer;
  readonly deadLetters: KeptDeadLetters;
  readonly metrics: RoleMetrics;
}

async function closer(fresh: LifeCase, tuning: Partial<RoleTuning> = QUIET, throughProxy = false): Promise<Closer> {
  const consumer = new ScriptedConsumer();
  const deadLetters = new KeptDeadLetters();
  const metrics = createRoleMetrics('closer', 'closer-1');
  const config = fresh.ledger.configFor({ instance: 'closer-1' });
  const role = await startCloser({ life: fresh.anotherLife('closer-1', undefined, throughProxy), consumer, deadLetters, metrics }, { ...config, tuning: { ...config.tuning, ...tuning } }, fresh.ledger.surroundings());
  fresh.ledger.closeAtEnd(() => role.stop());
  return { consumer, deadLetters, metrics };
}

function closeDue({ orderId, reservationId, userId }: PlacedOrder, change: Partial<OrderEvent> = {}): ReceivedMessage {
  const event: OrderEvent = {
    schemaVersion: 1, eventId: uuidv7(), type: 'ORDER_CLOSE_DUE', aggregateId: reservationId, aggregateVersion: 1, reservationId, requestId: 'r', activityId: '7', skuId: '1',
    userId, orderId, reason: null, returnsUnit: false, clearsUserMark: false, ...change,
  };
  return { topic: 't', partition: 0, offset: '0', key: reservationId, value: encodeOrderEvent(event), headers: {} };
}

test('a message is a hint: early it does nothing, in time it closes, again it does nothing; what is none is a dead letter', async () => {
  await using fresh = await openLife({ stock: 3 });
  const orders = await fresh.orders(3);
  const { consumer, deadLetters } = await closer(fresh);
  const [first] = orders;
  if (first === undefined) throw new Error('three orders');
  const hints = orders.map((order) => closeDue(order));
  await consumer.deliver(hints);
  expect(await fresh.ledger.count('orders', 'status = 10')).toBe(3);
  await fresh.timePasses();
  await consumer.deliver([...hints, ...hints, closeDue(first, { type: 'ORDER_PAID' }), { ...closeDue(first), value: 'poison' }]);
  expect(await fresh.ledger.count('orders', "status = 40 and cancel_reason = 'PAY_TIMEOUT'")).toBe(3);
  await consumer.deliver(hints);
  expect(await fresh.ledger.count('inventory_ledger', 'ledger_type = 20')).toBe(3);
  expect(consumer.finished).toHaveLength(3);
  expect(deadLetters.letters.map(({ cause, detail }) => [cause, detail])).toEqual([['MALFORMED', 'no close message: ORDER_PAID'], ['MALFORMED', 'not JSON']]);
  await expectBalanced(fresh);
});

test('the sweep ends what no message has ended, after its grace', async () => {
  await using fresh = await openLife({ stock: 250 });
  await fresh.orders(230);
  await fresh.timePasses();
  const { metrics } = await closer(fresh, { closerSweepIntervalMs: 50, closerSweepGraceMs: 0 });
  await vi.waitUntil(async () => (await fresh.ledger.count('orders', 'status = 40')) === 230, { timeout: 20_000 });
  expect(await metrics.text()).toContain('order_closed_total{by="sweep",role="closer",instance="closer-1"} 230');
  await expectBalanced(fresh);
});

test('PostgreSQL away: the messages stay, heartbeats go on, and the orders are closed once it is back', async () => {
  await using fresh = await openLife({ stock: 2 });
  const order = await fresh.order();
  await fresh.timePasses();
  const { consumer } = await closer(fresh, QUIET, true);
  const proxy = await consumerLink().proxy();
  const context = new CountingContext();
  await proxy.update({ ...proxy.toJson(), enabled: false });
  try {
    const delivered = consumer.deliver([closeDue(order)], context);
    await vi.waitUntil(() => fresh.ledger.logs.some(({ text }) => text === 'orders not closed; trying again'), { timeout: 10_000 });
    await delay(300);
    expect(consumer.finished).toHaveLength(0);
    await proxy.update({ ...proxy.toJson(), enabled: true });
    await delivered;
  } finally {
    await proxy.update({ ...proxy.toJson(), enabled: true });
  }
  expect(context.heartbeats).toBeGreaterThan(0);
  expect(await fresh.status('orders', order.orderId)).toBe(40);
  await expectBalanced(fresh);
});

const ALWAYS_IN_CONFLICT = (orderId: string): string => `create function in_conflict() returns trigger language plpgsql as $$ begin raise exception using errcode = '40001', message = 'in conflict'; end $$;
  create trigger in_conflict before update on orders for each row when (old.order_id = ${orderId}) execute function in_conflict()`;

test.each(['message', 'sweep'] as const)('an order that is always in conflict does not keep the others open: closed by %s', async (by) => {
  await using fresh = await openLife({ stock: 9 });
  const orders = await fresh.orders(9);
  const [bad] = orders;
  if (bad === undefined) throw new Error('nine orders');
  await fresh.timePasses();
  await fresh.ledger.client.query(ALWAYS_IN_CONFLICT(bad.orderId));
  const { consumer, deadLetters } = await closer(fresh, by === 'message' ? { ...QUIET, deadLetterAttempts: 1 } : { closerSweepIntervalMs: 50, closerSweepGraceMs: 0 });
  const delivered = by === 'message' ? consumer.deliver(orders.map((order) => closeDue(order))) : null;
  await vi.waitUntil(async () => (await fresh.ledger.count('orders', 'status = 40')) === 8, { timeout: 30_000 });
  await delivered;
  expect(await fresh.status('orders', bad.orderId)).toBe(10);
  expect(deadLetters.letters.map(({ cause }) => cause)).toEqual(by === 'message' ? ['ANOMALY'] : []);
});

test('an order whose books forbid to close it holds nobody up', async () => {
  await using fresh = await openLife({ stock: 9 });
  const orders = await fresh.orders(9);
  const [bad] = orders;
  if (bad === undefined) throw new Error('nine orders');
  await fresh.timePasses();
  await fresh.ledger.client.query('update inventory_reservation set status = 20 where reservation_id = $1', [bad.reservationId]);
  const { consumer, deadLetters } = await closer(fresh);
  await consumer.deliver(orders.map((order) => closeDue(order)));
  expect(await fresh.ledger.count('orders', 'status = 40')).toBe(8);
  expect(await fresh.status('orders', bad.orderId)).toBe(10);
  expect(deadLetters.letters.map(({ cause }) => cause)).toEqual(['ANOMALY']);
  expect(fresh.ledger.logs.filter(({ level, text }) => level === 'error' && text.startsWith('an order cannot be closed'))).toHaveLength(1);
});
