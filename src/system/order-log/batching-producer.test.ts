/** The producer against sessions made by hand: batching, budgets, bounds and outcomes, without a broker. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createBatchingProducer, type BatchingProducerOptions } from './batching-producer.js';
import type { SendResult } from './order-log-port.js';
import type { ProducerSession, SessionOptions } from './producer-session.js';

const SENT: SendResult = { outcome: 'sent', reason: null };
const BUDGET_MS = 60;

interface FakeBroker {
  readonly open: (options: SessionOptions) => Promise<ProducerSession>;
  readonly batches: number[];
  opened: number;
  reachable: boolean;
  answer: () => Promise<SendResult>;
  lose: () => void;
}

function fakeBroker(): FakeBroker {
  const broker: FakeBroker = {
    batches: [],
    opened: 0,
    reachable: true,
    answer: () => Promise.resolve(SENT),
    lose: () => undefined,
    open: (options) => {
      if (!broker.reachable) return Promise.reject(new Error('refused'));
      broker.opened += 1;
      broker.lose = () => { options.onLost('lost'); };
      return Promise.resolve({
        send: (topicMessages) => {
          broker.batches.push(topicMessages.reduce((sum, { messages }) => sum + messages.length, 0));
          return broker.answer();
        },
        close: () => Promise.resolve(),
      });
    },
  };
  return broker;
}

function producerOn(broker: FakeBroker, more: Partial<BatchingProducerOptions> = {}) {
  return createBatchingProducer({
    address: { host: '127.0.0.1', port: 1 }, clientId: 'test', topics: ['t'], budgetMs: BUDGET_MS, requestTimeoutMs: 40, connectionTimeoutMs: 40,
    maxBatch: 500, maxInFlight: 4, maxQueued: 5_000, log: () => undefined, openSession: broker.open, ...more,
  });
}
const message = { key: 'k', value: 'v' };
const never = (): Promise<SendResult> => new Promise(() => undefined);

// Time stands still but where a test says so: a slow machine uses nobody's budget up.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What it comes to in this time; one that takes longer fails. */
async function within<Value>(durationMs: number, promise: Promise<Value>): Promise<Value> {
  const nothing = Symbol('not yet');
  let came: Value | typeof nothing = nothing;
  const settled = promise.then((value) => { came = value; });
  await vi.advanceTimersByTimeAsync(durationMs);
  expect(came, `within ${String(durationMs)} ms`).not.toBe(nothing);
  await settled;
  return promise;
}

test('messages that arrive together leave together, at most maxBatch a request', async () => {
  const broker = fakeBroker();
  const producer = producerOn(broker);
  expect(await within(0, producer.ready())).toBe(true);
  const results = await within(1, Promise.all(Array.from({ length: 1_200 }, () => producer.send('t', message))));
  expect(results.every(({ outcome }) => outcome === 'sent')).toBe(true);
  expect(broker.batches).toEqual([500, 500, 200]);
  await within(100, producer.close());
});

test('a silent broker: what was handed over is unknown, what still waited behind the in-flight bound is surely not sent, all within the budget', async () => {
  const broker = fakeBroker();
  broker.answer = never;
  const producer = producerOn(broker, { maxBatch: 10, maxInFlight: 2 });
  await within(0, producer.ready());
  const results = await within(BUDGET_MS, Promise.all(Array.from({ length: 35 }, () => producer.send('t', message))));
  expect(results.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(20);
  expect(results.filter(({ outcome }) => outcome === 'surely-not-sent')).toHaveLength(15);
  await within(100, producer.close());
});

test('an answer after the budget changes nothing and hurts nothing', async () => {
  const broker = fakeBroker();
  broker.answer = () => new Promise((_resolve, reject) => setTimeout(() => { reject(new Error('late')); }, BUDGET_MS * 2));
  const producer = producerOn(broker);
  await within(0, producer.ready());
  expect((await within(BUDGET_MS, producer.send('t', message))).outcome).toBe('unknown');
  await vi.advanceTimersByTimeAsync(BUDGET_MS * 2);
  broker.answer = () => Promise.resolve(SENT);
  expect((await within(1, producer.send('t', message))).outcome).toBe('sent');
  await within(100, producer.close());
});

test('without a broker a message is surely not sent, and the first session serves what has time left', async () => {
  const broker = fakeBroker();
  broker.reachable = false;
  const producer = producerOn(broker, { budgetMs: 400 });
  expect(await within(0, producer.ready())).toBe(false);
  const waiting = producer.send('t', message);
  broker.reachable = true;
  expect((await within(400, waiting)).outcome).toBe('sent');
  broker.reachable = false;
  broker.lose();
  expect((await within(400, producer.send('t', message))).outcome).toBe('surely-not-sent');
  await within(100, producer.close());
});

test('a lost session is replaced at once, and its batch keeps its own outcome', async () => {
  const broker = fakeBroker();
  const producer = producerOn(broker);
  await within(0, producer.ready());
  broker.answer = () => {
    broker.answer = () => Promise.resolve(SENT);
    broker.lose();
    return Promise.resolve({ outcome: 'unknown', reason: 'cut' });
  };
  expect((await within(1, producer.send('t', message))).outcome).toBe('unknown');
  expect((await within(1, producer.send('t', message))).outcome).toBe('sent');
  expect(broker.opened).toBe(2);
  await within(100, producer.close());
});

test('requests that a lost session does not give back leave the next session its own', async () => {
  const broker = fakeBroker();
  const producer = producerOn(broker, { maxBatch: 10, maxInFlight: 2, budgetMs: 2_000 });
  await within(0, producer.ready());
  const hung: ((result: SendResult) => void)[] = [];
  broker.answer = () => new Promise((resolve) => hung.push(resolve));
  const lost = Promise.all(Array.from({ length: 20 }, () => producer.send('t', message)));
  await vi.advanceTimersByTimeAsync(1);
  expect(hung).toHaveLength(2);
  broker.answer = () => Promise.resolve(SENT);
  broker.lose();
  expect((await within(500, producer.send('t', message))).outcome).toBe('sent');
  // They come back when nobody counts them any more: the next session still has no more than its two requests at once.
  for (const resolve of hung.splice(0)) resolve({ outcome: 'unknown', reason: 'cut' });
  expect((await within(1, lost)).every(({ outcome }) => outcome === 'unknown')).toBe(true);
  broker.answer = () => new Promise((resolve) => hung.push(resolve));
  const more = Promise.all(Array.from({ length: 50 }, () => producer.send('t', message)));
  await vi.advanceTimersByTimeAsync(50);
  expect(hung).toHaveLength(2);
  broker.answer = () => Promise.resolve(SENT);
  for (const resolve of hung) resolve(SENT);
  expect((await within(10, more)).every(({ outcome }) => outcome === 'sent')).toBe(true);
  await within(100, producer.close());
});

test('the queue is bounded and a closed producer takes nothing', async () => {
  const broker = fakeBroker();
  broker.reachable = false;
  const producer = producerOn(broker, { maxQueued: 3 });
  const results = await within(BUDGET_MS, Promise.all(Array.from({ length: 5 }, () => producer.send('t', message))));
  expect(results.filter(({ reason }) => reason?.includes('full') === true)).toHaveLength(2);
  await within(100, producer.close());
  expect((await producer.send('t', message)).outcome).toBe('surely-not-sent');
});

test('close waits for what was accepted', async () => {
  const broker = fakeBroker();
  const producer = producerOn(broker);
  await within(0, producer.ready());
  const sent = producer.send('t', message);
  await within(10, producer.close());
  expect((await sent).outcome).toBe('sent');
});
