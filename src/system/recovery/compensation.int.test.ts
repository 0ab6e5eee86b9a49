// The compensation worker on real PostgreSQL and Redis, with a channel played by the test: once per reservation id, whatever is repeated.
import { randomUUID } from 'node:crypto';

import { expect, test, vi } from 'vitest';

import type { RoleInstance } from '../../domain/roles.js';
import { CompensationStatus, CompensationType } from '../../domain/status-codes.js';
import { message } from '../ledger/ledger-case.test-support.js';
import { answerOf, callbackFor, expectBalanced, openLife, type LifeCase, type PlacedOrder } from '../payment/life-case.test-support.js';
import type { PaymentChannel, RefundEnd, RefundRequest } from '../payment/payment-channel-port.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { RunningRole } from '../role.js';
import { freshStock, request, type FreshStock } from '../stock/fresh-stock.test-support.js';
import { createCompensationStore, type CompensationStore } from './compensation-store.js';
import { startCompensator } from './compensation-worker.js';

class ScriptedChannel implements PaymentChannel {
  readonly asked: RefundRequest[] = [];
  answer: (nth: number) => RefundEnd = () => ({ outcome: 'refunded' });

  query(): Promise<never> {
    throw new Error('a compensator asks no questions');
  }

  refund(asked: RefundRequest): Promise<RefundEnd> {
    this.asked.push(asked);
    return Promise.resolve(this.answer(this.asked.length));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

interface WorkerSpec {
  readonly instance?: RoleInstance;
  readonly channel?: PaymentChannel | null;
  readonly wrap?: (store: CompensationStore) => CompensationStore;
}

/** A worker whose projections go to the test's stock, under the test's own keys. */
async function worker(fresh: LifeCase, stock: FreshStock, { instance = 'compensator-1', channel = null, wrap = (store) => store }: WorkerSpec = {}): Promise<RunningRole> {
  const config = { ...fresh.ledger.configFor({ instance }), tuning: { ...fresh.ledger.config.tuning, leaseMs: 400, compensatorIntervalMs: 20 } };
  const surroundings = fresh.ledger.surroundings();
  const { connect } = stock;
  const redis = await connect();
  const role = await startCompensator({
    store: wrap(createCompensationStore(config, surroundings)),
    stock: Object.assign(Object.create(redis) as typeof redis, { project: (_sku: unknown, updates: Parameters<typeof redis.project>[1]) => redis.project({ activityId: '10001', skuId: '20001' }, updates) }),
    life: fresh.anotherLife(instance), channel, metrics: createRoleMetrics('compensator', instance),
  }, config, surroundings);
  fresh.ledger.closeAtEnd(() => role.stop());
  return role;
}

async function addTask(fresh: LifeCase, type: number, reservationId: string, key: string = randomUUID()): Promise<void> {
  await fresh.ledger.client.query('insert into compensation_task (task_id, idempotency_key, task_type, reservation_id, payload) values ($1, $2, $3, $4, \'{}\')', [randomUUID(), key, type, reservationId]);
}

const finished = (fresh: LifeCase): Promise<unknown> => vi.waitUntil(async () => (await fresh.ledger.count('compensation_task', 'status in (0, 10, 30)')) === 0, { timeout: 15_000, interval: 20 });
const statuses = async (fresh: LifeCase): Promise<number[]> => (await fresh.ledger.client.query<{ status: number }>('select status from compensation_task order by status')).rows.map(({ status }) => status);

/** A user with a unit in Redis and an order in PostgreSQL. */
async function bought(fresh: LifeCase, stock: FreshStock): Promise<PlacedOrder> {
  const { userId, reservationId, requestId, messageId } = message();
  await stock.stock.reserve({ activityId: '10001', skuId: '20001' }, [{ ...request(requestId, userId), reservationId, messageId }]);
  const end = await fresh.ledger.ledger().createOrders([message({ userId, reservationId, requestId, messageId })]);
  const orderId = end.outcome === 'committed' ? end.results[0]?.orderId : null;
  if (orderId == null) throw new Error('no order');
  return { orderId, userId, reservationId };
}

test('released in Redis once per reservation id, by twenty tasks and two workers', async () => {
  await using fresh = await openLife({ stock: 3, rules: { rebuyAfterCancel: true } });
  await using stock = await freshStock(3);
  const [ended, alive] = [await bought(fresh, stock), await bought(fresh, stock)];
  await fresh.life.cancel(ended.orderId, ended.userId);
  for (let nth = 0; nth < 20; nth += 1) await addTask(fresh, CompensationType.RELEASE_REDIS, ended.reservationId);
  await addTask(fresh, CompensationType.RELEASE_REDIS, alive.reservationId);
  await addTask(fresh, CompensationType.REBUILD_PROJECTION, alive.reservationId);
  await worker(fresh, stock);
  await worker(fresh, stock, { instance: 'compensator-2' });
  await finished(fresh);
  expect(await stock.direct.get(stock.keys.stock)).toBe('2');
  expect(await stock.direct.hexists(stock.keys.users, ended.userId)).toBe(0);
  expect(await stock.direct.hexists(stock.keys.users, alive.userId)).toBe(1);
  expect(await fresh.ledger.count('compensation_task', "status = 20 and last_error = 'unit returned'")).toBe(1);
  expect(await statuses(fresh)).toEqual([...Array<number>(21).fill(CompensationStatus.DONE), CompensationStatus.CANCELLED]);
});

test('what PostgreSQL does not know is never released: the task is tried again, and DEAD in the end', async () => {
  await using fresh = await openLife({ stock: 1 });
  await using stock = await freshStock(1);
  await addTask(fresh, CompensationType.RELEASE_REDIS, randomUUID());
  await addTask(fresh, CompensationType.RESEND_MESSAGE, randomUUID());
  await fresh.ledger.client.query('update compensation_task set max_retry = 2');
  await worker(fresh, stock);
  await finished(fresh);
  expect(await statuses(fresh)).toEqual([CompensationStatus.DEAD, CompensationStatus.DEAD]);
  expect(await stock.direct.get(stock.keys.stock)).toBe('1');
  expect(fresh.ledger.logs.filter(({ text }) => text === 'a compensation task was given up after its last try')).toHaveLength(2);
});

test('a channel that is silent, then at work, then done: paid back under one refund id, and the order is closed', async () => {
  await using fresh = await openLife({ stock: 2 });
  await using stock = await freshStock(2);
  const order = await fresh.order();
  const { paymentId } = answerOf(await fresh.life.takeCallback(callbackFor(order.orderId)));
  await fresh.life.requestRefund(order.orderId, order.userId);
  const channel = new ScriptedChannel();
  channel.answer = (nth) => (nth === 1 ? { outcome: 'no-answer', reason: 'silent' } : nth === 2 ? { outcome: 'pending', reason: 'at work' } : { outcome: 'refunded' });
  await worker(fresh, stock, { channel });
  await finished(fresh);
  expect(channel.asked.map(({ refundId, amount }) => [refundId, amount])).toEqual(Array(3).fill([paymentId, '9900']));
  expect([await fresh.status('orders', order.orderId), await fresh.status('inventory_reservation', order.reservationId)]).toEqual([50, 40]);
  expect(await fresh.ledger.one('select status from payment_record')).toEqual({ status: 50 });
  await expectBalanced(fresh);
});

test('without a channel refunds wait, visibly', async () => {
  await using fresh = await openLife({ stock: 1 });
  await using stock = await freshStock(1);
  const order = await fresh.order();
  await fresh.life.takeCallback(callbackFor(order.orderId));
  await fresh.life.requestRefund(order.orderId, order.userId);
  await worker(fresh, stock);
  await vi.waitUntil(async () => (await fresh.ledger.count('compensation_task', 'retry_count >= 1')) === 1, { timeout: 5_000 });
  expect(await fresh.ledger.one('select last_error from compensation_task')).toEqual({ last_error: 'there is no payment channel' });
  expect(await fresh.status('orders', order.orderId)).toBe(60);
});

test('a worker that dies between work and mark: the lease ends, the work is done again and harms nothing', async () => {
  await using fresh = await openLife({ stock: 2 });
  await using stock = await freshStock(2);
  const ended = await bought(fresh, stock);
  await fresh.life.cancel(ended.orderId, ended.userId);
  await addTask(fresh, CompensationType.RELEASE_REDIS, ended.reservationId);
  let marks = 0;
  const dying = await worker(fresh, stock, { wrap: (store) => ({ ...store, finish: () => ((marks += 1), Promise.reject(new Error('gone'))) }) });
  await vi.waitUntil(() => marks > 0, { timeout: 5_000 });
  await dying.stop();
  expect(await stock.direct.get(stock.keys.stock)).toBe('2');
  await worker(fresh, stock, { instance: 'compensator-2' });
  await finished(fresh);
  expect(await stock.direct.get(stock.keys.stock)).toBe('2');
  expect(await fresh.ledger.one('select status, last_error from compensation_task')).toEqual({ status: 20, last_error: 'stale' });
});
