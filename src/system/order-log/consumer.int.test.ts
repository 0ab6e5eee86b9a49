/**
 * The consumer against a real broker: the offset follows the work and never leads it, failures bring the batch again, members come and go,
 * links break, and the consumer is never silently dead.
 */
import { randomBytes } from 'node:crypto';

import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import { createBatchConsumer, type BatchConsumerOptions } from './batch-consumer.js';
import { createKafka } from './kafka-client.js';
import type { LogConsumer, ReceivedMessage } from './order-log-port.js';
import { createSteadyProducer } from './steady-producer.js';
import { deleteTopics, ensureTopics } from './topics.js';

const SESSION_TIMEOUT_MS = 6_000;
const stack = inject('stack');
const lane = stack.lanes[0];
if (lane === undefined) throw new Error('the stack has no lane');
const proxyName = lane.proxies['consumer-kafka'];
const address = lane.links['consumer-kafka'];
const toxiproxy = new Toxiproxy(`http://${stack.direct.toxiproxyApi.host}:${String(stack.direct.toxiproxyApi.port)}`);

let namespace: Namespace;
let consumers: LogConsumer[] = [];

beforeEach(async () => {
  namespace = namespaceOf(`c${randomBytes(6).toString('hex')}`);
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 4 });
});

afterEach(async () => {
  await toxiproxy.reset();
  await Promise.all(consumers.map((consumer) => consumer.stop()));
  consumers = [];
  await deleteTopics(stack.direct.kafka, namespace);
});

function consumerNamed(clientId: string, more: Partial<BatchConsumerOptions> = {}): LogConsumer {
  const consumer = createBatchConsumer({
    address, clientId, groupId: namespace.ordersGroup, topics: [namespace.ordersTopic],
    sessionTimeoutMs: SESSION_TIMEOUT_MS, log: () => undefined, ...more,
  });
  consumers.push(consumer);
  return consumer;
}

async function produce(count: number, prefix = 'm'): Promise<void> {
  const producer = createSteadyProducer({ address: stack.direct.kafka, clientId: 'test', topics: [namespace.ordersTopic], budgetMs: 5_000, log: () => undefined });
  await producer.ready();
  const results = await Promise.all(Array.from({ length: count }, (_value, index) => producer.send(namespace.ordersTopic, { key: `${prefix}${String(index)}`, value: 'v' })));
  await producer.close();
  expect(results.find(({ outcome }) => outcome !== 'sent')).toBeUndefined();
}

/** Messages of the orders topic below the group's committed offsets. */
async function committed(): Promise<number> {
  const admin = createKafka({ address: stack.direct.kafka, clientId: 'test', requestTimeoutMs: 10_000, connectionTimeoutMs: 2_000, retries: 3 }).admin();
  await admin.connect();
  const [topic] = await admin.fetchOffsets({ groupId: namespace.ordersGroup, topics: [namespace.ordersTopic] });
  await admin.disconnect();
  return (topic?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
}

const noted = () => {
  const keys = new Set<string>();
  let calls = 0;
  return {
    keys,
    calls: () => calls,
    take: (messages: readonly ReceivedMessage[]): Promise<void> => {
      calls += messages.length;
      for (const { key } of messages) keys.add(key);
      return Promise.resolve();
    },
  };
};
const silent = (): void => undefined;

test('C21: a fresh group reads what was written before its first join, and commits what it has handled', async () => {
  await produce(100);
  const seen = noted();
  const afterCommit = noted();
  const consumer = consumerNamed('consumer-1');
  expect(consumer.ready()).toBe(false);
  await consumer.run(seen.take, (messages) => afterCommit.take(messages));
  await expect.poll(() => afterCommit.calls(), { timeout: 15_000 }).toBe(100);
  expect(consumer.ready()).toBe(true);
  expect(seen.calls()).toBe(100);
  expect(await committed()).toBe(100);
});

test('pieces are at most maxMessages and in offset order', async () => {
  await produce(300);
  const lastOffset = new Map<number, number>();
  let largest = 0;
  let total = 0;
  await consumerNamed('consumer-1', { maxMessages: 20 }).run((messages) => {
    largest = Math.max(largest, messages.length);
    for (const { partition, offset } of messages) {
      expect(Number(offset)).toBe((lastOffset.get(partition) ?? -1) + 1);
      lastOffset.set(partition, Number(offset));
      total += 1;
    }
    return Promise.resolve();
  }, silent);
  await expect.poll(() => total, { timeout: 15_000 }).toBe(300);
  expect(largest).toBeLessThanOrEqual(20);
});

test('C20: no offset moves before its work is done; a batch that failed comes again', async () => {
  await produce(50);
  const seen = noted();
  let open = false;
  let refused = 0;
  await consumerNamed('consumer-1').run((messages) => {
    if (open) return seen.take(messages);
    refused += 1;
    return Promise.reject(new Error('the database is away'));
  }, silent);
  await expect.poll(() => refused, { timeout: 15_000 }).toBeGreaterThan(5);
  expect(await committed()).toBe(0);
  open = true;
  await expect.poll(() => seen.keys.size, { timeout: 15_000 }).toBe(50);
  await expect.poll(committed, { timeout: 10_000 }).toBe(50);
});

test('work that outlasts the session timeout keeps its membership by heartbeats, and is not handed out twice', async () => {
  await produce(1);
  let calls = 0;
  await consumerNamed('consumer-1').run(async (_messages, context) => {
    calls += 1;
    const started = performance.now();
    while (performance.now() - started < SESSION_TIMEOUT_MS + 2_000) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      await context.heartbeat();
    }
  }, silent);
  await expect.poll(committed, { timeout: 20_000, interval: 250 }).toBe(1);
  expect(calls).toBe(1);
});

test('C18: 5,000 messages, slow work, a second consumer joins in the middle: the lag reaches 0', async () => {
  await produce(5_000);
  const seen = noted();
  const slowly = (by: { n: number }) => async (messages: readonly ReceivedMessage[]): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    by.n += messages.length;
    await seen.take(messages);
  };
  const first = { n: 0 };
  const second = { n: 0 };
  await consumerNamed('consumer-1', { maxMessages: 50, maxBytesPerPartition: 20_000 }).run(slowly(first), silent);
  await expect.poll(() => seen.keys.size, { timeout: 15_000, interval: 10 }).toBeGreaterThan(500);
  await consumerNamed('consumer-2', { maxMessages: 50, maxBytesPerPartition: 20_000 }).run(slowly(second), silent);
  await expect.poll(() => seen.keys.size, { timeout: 40_000 }).toBe(5_000);
  await expect.poll(committed, { timeout: 10_000 }).toBe(5_000);
  expect(second.n).toBeGreaterThan(0);
});

test('a TypeError in the handler is neither silent nor skipped: it is met again, and a lasting one is fatal', async () => {
  await produce(10);
  const bug = (): Promise<void> => Promise.reject(new TypeError('undefined is not a function'));
  const consumer = consumerNamed('consumer-1');
  await consumer.run(bug, silent);
  const error = await consumer.fatal;
  expect(error.message).toContain('TypeError');
  expect(await committed()).toBe(0);
});

test('a TypeError that passes is survived', async () => {
  await produce(10);
  const seen = noted();
  let thrown = 0;
  await consumerNamed('consumer-1').run((messages) => {
    if (thrown < 2) {
      thrown += 1;
      throw new TypeError('once');
    }
    return seen.take(messages);
  }, silent);
  await expect.poll(() => seen.keys.size, { timeout: 15_000 }).toBe(10);
});

test('a handler that hangs without heartbeats is fatal, not silent', async () => {
  await produce(1);
  const consumer = consumerNamed('consumer-1', { stallTimeoutMs: 1_500 });
  await consumer.run(() => new Promise(() => undefined), silent);
  expect((await consumer.fatal).message).toContain('stuck');
});

test.each([
  ['cut', async () => {
    const proxy = await toxiproxy.get(proxyName);
    await proxy.update({ enabled: false, listen: proxy.listen, upstream: proxy.upstream });
    return () => proxy.update({ enabled: true, listen: proxy.listen, upstream: proxy.upstream });
  }],
  ['silent', async () => {
    const proxy = await toxiproxy.get(proxyName);
    const toxic = await proxy.addToxic({ name: 'mute', type: 'timeout', stream: 'downstream', toxicity: 1, attributes: { timeout: 0 } } as never);
    return () => toxic.remove();
  }],
] as const)('the link is %s for 5 s in the middle of the work: everything is handled in the end', async (_name, breakLink) => {
  const seen = noted();
  const consumer = consumerNamed('consumer-1');
  await consumer.run(seen.take, silent);
  await produce(100, 'before');
  await expect.poll(() => seen.keys.size, { timeout: 15_000 }).toBe(100);
  const heal = await breakLink();
  await produce(100, 'during');
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  await heal();
  const healed = performance.now();
  await expect.poll(() => seen.keys.size, { timeout: 40_000 }).toBe(200);
  expect(performance.now() - healed).toBeLessThan(20_000);
  await expect.poll(committed, { timeout: 20_000 }).toBe(200);
});

test('a connection that breaks at the commit of the last messages leaves no lag behind', async () => {
  const proxy = await toxiproxy.get(proxyName);
  const failures: string[] = [];
  const seen = noted();
  // The longest session that the broker takes: nobody is saved by a rejoin in time.
  await consumerNamed('consumer-1', { sessionTimeoutMs: 30_000, partitionsConcurrently: 1, log: (_level, text) => failures.push(text) }).run(async (messages) => {
    await seen.take(messages);
    if (seen.keys.size === 4) await proxy.addToxic({ name: 'cut', type: 'limit_data', stream: 'upstream', toxicity: 1, attributes: { bytes: 0 } } as never);
  }, silent);
  await produce(4);
  await expect.poll(() => failures, { timeout: 15_000 }).toContain('an offset could not be committed');
  await (await proxy.getToxic('cut')).remove();
  await expect.poll(committed, { timeout: 10_000 }).toBe(4);
  expect(seen.keys.size).toBe(4);
});

test('started without a broker, it works once there is one', async () => {
  const proxy = await toxiproxy.get(proxyName);
  await proxy.update({ enabled: false, listen: proxy.listen, upstream: proxy.upstream });
  await produce(10);
  const seen = noted();
  const consumer = consumerNamed('consumer-1');
  await consumer.run(seen.take, silent);
  expect(consumer.ready()).toBe(false);
  await proxy.update({ enabled: true, listen: proxy.listen, upstream: proxy.upstream });
  await expect.poll(() => seen.keys.size, { timeout: 20_000 }).toBe(10);
});

test('stop is bounded while the handler hangs', async () => {
  await produce(1);
  let inHand = false;
  const consumer = consumerNamed('consumer-1');
  await consumer.run(() => {
    inHand = true;
    return new Promise(() => undefined);
  }, silent);
  await expect.poll(() => inHand, { timeout: 15_000 }).toBe(true);
  const started = performance.now();
  await consumer.stop();
  expect(performance.now() - started).toBeLessThan(5_000);
});
