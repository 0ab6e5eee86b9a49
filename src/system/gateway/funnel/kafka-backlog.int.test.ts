/** The backlog of the orders topic, asked of a real broker: lag, age, progress, a late start, and a broker that is away. */
import { randomBytes } from 'node:crypto';

import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { namespaceOf, type Namespace } from '../../../domain/namespace.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { createKafka } from '../../order-log/kafka-client.js';
import { deleteTopics, ensureTopics } from '../../order-log/topics.js';
import { createKafkaBacklog, type KafkaBacklog } from './kafka-backlog.js';

const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { links, proxies } = lane;
const toxiproxy = new Toxiproxy(`http://${stack.direct.toxiproxyApi.host}:${String(stack.direct.toxiproxyApi.port)}`);
const client = () => createKafka({ address: stack.direct.kafka, clientId: 'test', requestTimeoutMs: 10_000, connectionTimeoutMs: 2_000, retries: 3 });

let namespace: Namespace;
let opened: KafkaBacklog[];

beforeEach(async () => {
  namespace = namespaceOf(`b${randomBytes(6).toString('hex')}`);
  opened = [];
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 2 });
});

afterEach(async () => {
  for (const backlog of opened) await backlog.close();
  await toxiproxy.reset();
  await deleteTopics(stack.direct.kafka, namespace);
});

function open(clock?: { nowMs: number }): KafkaBacklog {
  const config = { instance: 'gateway-1', namespace, tuning: DEFAULT_TUNING, addresses: { kafka: links['gateway-kafka'] } } as const;
  const backlog = createKafkaBacklog(config, clock === undefined ? undefined : () => clock.nowMs);
  opened.push(backlog);
  return backlog;
}

async function produce(count: number): Promise<void> {
  const producer = client().producer();
  await producer.connect();
  await producer.send({ topic: namespace.ordersTopic, messages: Array.from({ length: count }, (_value, index) => ({ value: String(index), partition: 0 })) });
  await producer.disconnect();
}

async function commit(offset: number): Promise<void> {
  const admin = client().admin();
  await admin.connect();
  await admin.setOffsets({ groupId: namespace.ordersGroup, topic: namespace.ordersTopic, partitions: [{ partition: 0, offset: String(offset) }] });
  await admin.disconnect();
}

test('lag, age and progress follow the log and the group', async () => {
  const clock = { nowMs: 100_000 };
  const backlog = open(clock);
  // A new broker makes the topic of the groups at the first question.
  await expect.poll(() => backlog.read(), { timeout: 20_000 }).toEqual({ lag: 0, consumed: 0, oldestAgeMs: 0 });
  clock.nowMs += 100;
  await produce(10);
  expect(await backlog.read()).toEqual({ lag: 10, consumed: 0, oldestAgeMs: 100 });
  clock.nowMs += 400;
  await produce(5);
  expect(await backlog.read()).toEqual({ lag: 15, consumed: 0, oldestAgeMs: 500 });
  await commit(10);
  expect(await backlog.read()).toEqual({ lag: 5, consumed: 10, oldestAgeMs: 400 });
  await commit(15);
  expect(await backlog.read()).toEqual({ lag: 0, consumed: 15, oldestAgeMs: 0 });
});

test('a gateway that starts into an old backlog does not take it for new', async () => {
  await produce(3);
  const producedAt = Date.now();
  const { closeAtAgeMs } = DEFAULT_TUNING.funnel.admission;
  await expect.poll(() => Date.now() - producedAt > closeAtAgeMs + 50, { timeout: closeAtAgeMs + 2_000, interval: 50 }).toBe(true);
  const backlog = open();
  await expect.poll(async () => (await backlog.read())?.lag, { timeout: 20_000 }).toBe(3);
  const reading = await backlog.read();
  expect(reading?.oldestAgeMs).toBeGreaterThanOrEqual(closeAtAgeMs);
});

test('the broker is away: null in time, and it comes back by itself', async () => {
  const backlog = open();
  await expect.poll(async () => (await backlog.read())?.lag, { timeout: 20_000 }).toBe(0);
  const proxy = await toxiproxy.get(proxies['gateway-kafka']);
  await proxy.update({ enabled: false, listen: proxy.listen, upstream: proxy.upstream });
  const started = performance.now();
  expect(await backlog.read()).toBeNull();
  expect(performance.now() - started).toBeLessThan(2_500);
  await proxy.update({ enabled: true, listen: proxy.listen, upstream: proxy.upstream });
  await expect.poll(async () => (await backlog.read())?.lag, { timeout: 10_000 }).toBe(0);
});
