// The projector against a stock and a consumer played by the test: order, retries, and offsets that stay when nothing was applied.
import { expect, test } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { encodeOrderEvent, type OrderEvent } from '../../domain/order-event.js';
import { EventType } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { ProjectionReply, ProjectionUpdate, StockPort } from '../stock/stock-port.js';
import { projectionUpdateOf } from './projection-update.js';
import { startProjector } from './projector.js';

function event(number: number, change: Partial<OrderEvent> = {}): OrderEvent {
  const id = `0197f1d0-0000-7000-8000-${String(number).padStart(12, '0')}`;
  return {
    schemaVersion: 1, eventId: id, type: 'ORDER_CREATED', aggregateId: id, aggregateVersion: 1, reservationId: id, requestId: `r${String(number)}`,
    activityId: '10001', skuId: '20001', userId: String(number), orderId: String(number), reason: null, returnsUnit: false, clearsUserMark: false, ...change,
  };
}

function message(offset: number, value: string): ReceivedMessage {
  return { topic: 'test.events', partition: 0, offset: String(offset), key: 'k', value, headers: {} };
}

async function bench() {
  let handle: (messages: readonly ReceivedMessage[], context: BatchContext) => Promise<void> = () => Promise.reject(new Error('not started'));
  const state = {
    calls: [] as { readonly skuId: string; readonly updates: readonly ProjectionUpdate[] }[],
    answer: (updates: readonly ProjectionUpdate[]): readonly ProjectionReply[] => updates.map(() => ({ outcome: 'done', applied: 'applied', unitReturned: false })),
    heartbeats: 0, running: true, groupMoved: false, steps: [] as string[], logged: [] as string[], closed: [] as string[], buried: [] as string[],
  };
  const consumer: LogConsumer = {
    run: (given) => {
      handle = given;
      return Promise.resolve();
    },
    ready: () => state.running,
    fatal: new Promise(() => undefined),
    stop: () => Promise.resolve(void state.closed.push('consumer')),
  };
  const stock = {
    project: ({ skuId }, updates) => {
      state.calls.push({ skuId, updates });
      return Promise.resolve(state.answer(updates));
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(void state.closed.push('stock')),
  } satisfies Partial<StockPort> as unknown as StockPort;
  const metrics = createRoleMetrics('projector', 'projector-1');
  const deadLetters: DeadLetterSender = {
    bury: (record, { cause }) => Promise.resolve(void state.buried.push(`${record.offset} ${cause}`)),
    close: () => Promise.resolve(void state.closed.push('dead letters')),
  };
  const role = await startProjector({ stock, consumer, deadLetters, metrics }, {} as RoleConfig, {
    clock: systemClock,
    log: (_level, text) => void state.logged.push(text),
    observer: { reached: (step, ids) => void state.steps.push(`${step} ${String(ids.length)}`) },
  });
  const context: BatchContext = {
    heartbeat: () => {
      state.heartbeats += 1;
      return state.groupMoved ? Promise.reject(new Error('the group has moved on')) : Promise.resolve();
    },
    isRunning: () => state.running,
  };
  return { state, role, metrics, deliver: (...messages: readonly ReceivedMessage[]) => handle(messages, context) };
}

test('a batch is applied in order, by SKU, and announced', async () => {
  const { state, deliver, metrics } = await bench();
  await deliver(
    message(0, encodeOrderEvent(event(1))),
    message(1, encodeOrderEvent(event(2, { skuId: '20002' }))),
    message(2, encodeOrderEvent(event(1, { type: 'ORDER_CANCELLED', aggregateVersion: 2, returnsUnit: true, reason: 'PAY_TIMEOUT' }))),
  );
  expect(state.calls.map(({ skuId, updates }) => [skuId, updates.map(({ state: to, version }) => `${to}${String(version)}`)])).toEqual([
    ['20001', ['O1', 'L2']],
    ['20002', ['O1']],
  ]);
  expect(state.steps).toEqual(['projector.before-apply 3', 'projector.after-apply 3']);
  expect(await metrics.text()).toMatch(/projection_events_total\{result="applied".*\} 3/);
});

test('while Redis is away it stays in the group, sends only what is left, and goes on', async () => {
  const { state, deliver } = await bench();
  let attempt = 0;
  state.answer = (updates) => {
    attempt += 1;
    // The first attempt does one and fails; the answer of the second is lost; the third finds Redis again.
    return updates.map((_, index) => (attempt === 1 && index === 0) || attempt === 3 ? { outcome: 'done', applied: 'applied', unitReturned: true } : { outcome: attempt === 1 ? 'surely-not-done' : 'unknown', reason: 'away' });
  };
  await deliver(...[1, 2, 3].map((number) => message(number, encodeOrderEvent(event(number)))));
  expect(state.calls.map(({ updates }) => updates.map(({ requestId }) => requestId))).toEqual([['r1', 'r2', 'r3'], ['r2', 'r3'], ['r2', 'r3']]);
  expect(state.heartbeats).toBe(2);
  expect(state.steps).toEqual(['projector.before-apply 3', 'projector.after-apply 3']);
});

test.each(['stop', 'lost partition', 'group moved'] as const)('on %s the batch rejects, so that its offsets stay', async (cause) => {
  const { state, role, deliver } = await bench();
  state.answer = (updates) => updates.map(() => ({ outcome: 'unknown', reason: 'away' }));
  state.groupMoved = cause === 'group moved';
  const delivered = deliver(message(0, encodeOrderEvent(event(1))));
  const rejected = expect(delivered).rejects.toThrow();
  await expect.poll(() => state.calls.length).toBeGreaterThan(0);
  if (cause === 'stop') await role.stop();
  if (cause === 'lost partition') state.running = false;
  await rejected;
  expect(state.steps).toEqual(['projector.before-apply 1']);
});

test('C22: a malformed event becomes a dead letter and does not block what follows', async () => {
  const { state, deliver, metrics } = await bench();
  await deliver(message(0, '{"schemaVersion":1'), message(1, encodeOrderEvent(event(1))));
  expect(state.calls.flatMap(({ updates }) => updates.map(({ requestId }) => requestId))).toEqual(['r1']);
  expect(state.buried).toEqual(['0 MALFORMED']);
  expect(await metrics.text()).toMatch(/projection_events_total\{result="malformed".*\} 1/);
});

test('a timer event alone calls nothing and announces nothing', async () => {
  const { state, deliver } = await bench();
  await deliver(message(0, encodeOrderEvent(event(1, { type: 'ORDER_CLOSE_DUE' }))));
  expect(state.calls).toEqual([]);
  expect(state.steps).toEqual([]);
});

test('stop ends the consumer before the stock', async () => {
  const { state, role } = await bench();
  await role.stop();
  expect(state.closed).toEqual(['consumer', 'stock', 'dead letters']);
});

test.each(Object.values(EventType))('%s maps to a state or to nothing, and keeps whether a unit returns', (type) => {
  const update = projectionUpdateOf(event(1, { type, returnsUnit: true }));
  if (type === 'ORDER_CLOSE_DUE') expect(update).toBeNull();
  else expect(update).toMatchObject({ returnsUnit: true, version: 1 });
});
