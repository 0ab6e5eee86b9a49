/**
 * The gateway over HTTP with a real Redis and a real broker (PostgreSQL is a port made by hand: it is only asked for what Redis has lost), and
 * with each of them taken away.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';

import { Redis } from 'ioredis';
import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import type { Answer, SkuState } from '../../domain/answer.js';
import { DEFAULT_FUNNEL } from '../../domain/funnel.js';
import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import { encodePermit } from '../../domain/permit.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning } from '../../domain/role-config.js';
import { composeRole } from '../compose.js';
import type { DurableLookup, RequestReader } from '../ledger/ledger-port.js';
import { createKafka } from '../order-log/kafka-client.js';
import { deleteTopics, ensureTopics } from '../order-log/topics.js';
import type { RunningRole } from '../role.js';
import { runIdOf } from '../stock/epoch-guard.js';
import { connectStock } from '../stock/redis-stock.js';

const SKU = { activityId: '7', skuId: '70' };
const PATH = '/v1/activities/7/skus/70/reservations';
const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { links, proxies } = lane;
const listenPort = lane.rolePorts[0] ?? 0;
const toxiproxy = new Toxiproxy(`http://${stack.direct.toxiproxyApi.host}:${String(stack.direct.toxiproxyApi.port)}`);

let namespace: Namespace;
let gateway: RunningRole | null = null;
let durable: DurableLookup;
let agent: Agent;

const reader: RequestReader = { lookup: () => Promise.resolve(durable), ready: () => Promise.resolve(true), close: () => Promise.resolve() };

beforeEach(() => {
  namespace = namespaceOf(`g${randomBytes(6).toString('hex')}`);
  durable = { outcome: 'done', state: null };
  agent = new Agent({ keepAlive: true, maxSockets: 64 });
});

afterEach(async () => {
  agent.destroy();
  await toxiproxy.reset();
  await gateway?.stop();
  gateway = null;
  await deleteTopics(stack.direct.kafka, namespace);
  await withRedis(async (redis) => {
    const keys = await redis.keys(`${namespace.redisPrefix}*`);
    if (keys.length > 0) await redis.del(...keys);
  });
});

async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ ...stack.direct.redisPrimary });
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

async function startWith(stock: number, tuning: Partial<RoleTuning> = {}): Promise<void> {
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 4 });
  const runId = runIdOf(await withRedis((redis) => redis.info('server')));
  const direct = connectStock(stack.direct.redisPrimary, namespace);
  await direct.whenConnected(5_000);
  const now = Date.now();
  const meta = { activityVersion: '1', startAtMs: now - 1_000, endAtMs: now + 600_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1', runId };
  expect(await direct.warmUp(SKU, { stock, meta })).toMatchObject({ outcome: 'done', value: { status: 'written' } });
  await direct.close();
  const config: RoleConfig = {
    role: 'gateway', instance: 'gateway-1', namespace, activityId: SKU.activityId, skuIds: [SKU.skuId],
    addresses: { redis: links['gateway-redis'], kafka: links['gateway-kafka'], postgres: stack.direct.postgres },
    listen: { host: '127.0.0.1', port: listenPort }, strategies: { consumer: 'batch:100', allocator: 'token' }, tuning: { ...DEFAULT_TUNING, ...tuning },
  };
  const role = await composeRole(config, { ports: { reader }, log: () => undefined });
  gateway = role;
  await expect.poll(() => role.health(), { timeout: 10_000 }).toEqual([]);
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Answer;
}

function http(method: string, path: string, headers: Record<string, string>, body?: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port: listenPort, method, path, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        expect(response.headers['content-length']).toBe(String(Buffer.byteLength(text)));
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) as Answer });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
const post = (requestId: string, userId: string, body = '{"quantity":1}') => http('POST', PATH, { 'Idempotency-Key': requestId, 'X-User-Id': userId }, body);
const get = (path: string, userId: string) => http('GET', path, { 'X-User-Id': userId });

async function messages(): Promise<number> {
  const admin = createKafka({ address: stack.direct.kafka, clientId: 'test', requestTimeoutMs: 10_000, connectionTimeoutMs: 2_000, retries: 3 }).admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(namespace.ordersTopic);
  await admin.disconnect();
  return offsets.reduce((sum, { offset }) => sum + Number(offset), 0);
}

async function setProxy(name: string, enabled: boolean): Promise<void> {
  const proxy = await toxiproxy.get(name);
  await proxy.update({ enabled, listen: proxy.listen, upstream: proxy.upstream });
}

test('the whole contract on a stock of 2', async () => {
  await startWith(2);
  const first = await post('r-1', '1');
  expect(first).toMatchObject({ status: 202, body: { code: 'QUEUED', requestId: 'r-1', orderId: null, problems: [] }, headers: { location: '/v1/activities/7/skus/70/requests/r-1' } });
  expect(Object.keys(first.body)).toEqual(['code', 'requestId', 'reservationId', 'orderId', 'reason', 'problems', 'retryAfterMs']);
  expect(await post('r-1', '1')).toMatchObject({ status: 200, body: { code: 'QUEUED', reservationId: first.body.reservationId } });
  expect(await post('r-1', '1', '{"quantity":1,"clientTag":"x"}')).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  expect(await post('r-1', '2')).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_CONFLICT' } });
  expect(await post('r-2', '1')).toMatchObject({ status: 409, body: { code: 'USER_HAS_ONE' } });
  expect((await post('r-3', '3')).status).toBe(202);
  expect(await post('r-4', '4')).toMatchObject({ status: 410, body: { code: 'SOLD_OUT' } });
  expect(await post('r 5', 'x', '{"quantity":2}')).toMatchObject({ status: 400, body: { code: 'INVALID', problems: [expect.any(String), expect.any(String), expect.any(String)] } });
  expect(await post('r-6', '6', 'x'.repeat(10_000))).toMatchObject({ status: 400, body: { code: 'INVALID' } });
  const location = String(first.headers['location']);
  expect(await get(location, '1')).toMatchObject({ status: 200, body: { code: 'QUEUED', reservationId: first.body.reservationId } });
  expect(await get(location, '2')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', reservationId: null } });
  expect(await get('/v1/activities/7/skus/70/requests/none', '2')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND_YET' }, headers: { 'retry-after': '1' } });
  expect(await get('/v1/activities/9/skus/70/requests/none', '2')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  expect(await http('DELETE', PATH, {})).toMatchObject({ status: 404 });
  expect(await http('GET', '/healthz', {})).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await messages()).toBe(2);
});

test('C44: one request sent 200 times at once: one unit, one message, one reservation id', async () => {
  await startWith(100);
  const all = await Promise.all(Array.from({ length: 200 }, () => post('same', '1')));
  expect(all.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(all.filter(({ status }) => status === 200)).toHaveLength(199);
  expect(new Set(all.map(({ body }) => body.reservationId)).size).toBe(1);
  expect(await messages()).toBe(1);
});

test('1,000 buyers for 100 units: 100 accepted, 900 sold out, 100 messages', async () => {
  await startWith(100);
  const all = await Promise.all(Array.from({ length: 1_000 }, (_value, index) => post(`r-${String(index)}`, String(index + 1))));
  expect(all.filter(({ body }) => body.code.startsWith('QUEUED'))).toHaveLength(100);
  expect(all.filter(({ body }) => body.code === 'SOLD_OUT')).toHaveLength(900);
  await expect.poll(messages).toBe(100);
});

test('the broker is gone: accepted and pending, in time, and nothing is released', async () => {
  await startWith(10);
  await setProxy(proxies['gateway-kafka'], false);
  const started = performance.now();
  const answer = await post('r-1', '1');
  expect(performance.now() - started).toBeLessThan(DEFAULT_TUNING.sendBudgetMs + 200);
  expect(answer).toMatchObject({ status: 202, body: { code: 'QUEUED_PENDING_MESSAGE' } });
  expect(answer.body.reservationId).not.toBeNull();
  expect(await get(String(answer.headers['location']), '1')).toMatchObject({ status: 200, body: { code: 'QUEUED_PENDING_MESSAGE' } });
  expect((await post('r-1', '1')).body).toMatchObject({ code: 'QUEUED_PENDING_MESSAGE', reservationId: answer.body.reservationId });
  expect(await messages()).toBe(0);
  await setProxy(proxies['gateway-kafka'], true);
  await expect.poll(async () => (await post(`x-${randomBytes(4).toString('hex')}`, String(Date.now()))).body.code, { timeout: 5_000 }).toBe('QUEUED');
});

test('Redis is gone: nothing new is accepted, queries go to PostgreSQL, and it comes back by itself', async () => {
  await startWith(10);
  const before = await post('r-1', '1');
  await setProxy(proxies['gateway-redis'], false);
  await expect.poll(async () => (await post('r-2', '2')).body.code).toBe('UNAVAILABLE');
  expect((await post('r-3', '3')).status).toBe(503);
  const location = String(before.headers['location']);
  expect(await get(location, '1')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND_YET' } });
  durable = { outcome: 'done', state: { requestId: 'r-1', userId: '1', reservationId: 'x', reservationStatus: 10, failureCode: null, orderId: '5', orderStatus: 10 } };
  expect(await get(location, '1')).toMatchObject({ status: 200, body: { code: 'ORDERED', orderId: '5' } });
  expect((await get(location, '2')).status).toBe(403);
  durable = { outcome: 'unavailable', reason: 'gone' };
  expect(await get(location, '1')).toMatchObject({ status: 503, body: { code: 'RESULT_UNKNOWN', reservationId: null } });
  expect((await http('GET', '/healthz', {})).status).toBe(503);
  await setProxy(proxies['gateway-redis'], true);
  await expect.poll(async () => (await post('r-4', '4')).body.code, { timeout: 5_000 }).toBe('QUEUED');
});

test('the answer of the reserve call is lost: RESULT_UNKNOWN with a Location, never a refusal, and a repeat finds the one reservation', async () => {
  await startWith(10);
  await post('warm', '9');
  const proxy = await toxiproxy.get(proxies['gateway-redis']);
  const toxic = await proxy.addToxic({ name: 'lost', type: 'limit_data', stream: 'downstream', toxicity: 1, attributes: { bytes: 0 } } as never);
  const lost = await post('r-1', '1');
  expect(lost).toMatchObject({ status: 503, body: { code: 'RESULT_UNKNOWN', reservationId: null }, headers: { location: '/v1/activities/7/skus/70/requests/r-1' } });
  await toxic.remove();
  await expect.poll(async () => (await post('r-1', '1')).status, { timeout: 5_000 }).toBe(200);
  expect((await get(String(lost.headers['location']), '1')).body.code).toBe('QUEUED_PENDING_MESSAGE');
});

test('beyond maxInFlight: 429 at once', async () => {
  await startWith(10, { maxInFlight: 1 });
  const proxy = await toxiproxy.get(proxies['gateway-redis']);
  await post('warm', '9');
  const toxic = await proxy.addToxic({ name: 'slow', type: 'latency', stream: 'downstream', toxicity: 1, attributes: { latency: 200, jitter: 0 } } as never);
  const both = await Promise.all([post('r-1', '1'), post('r-2', '2')]);
  expect(both.map(({ status }) => status).sort()).toEqual([202, 429]);
  await toxic.remove();
});

test('stop lets the answer in hand go out and refuses new connections', async () => {
  await startWith(10);
  const proxy = await toxiproxy.get(proxies['gateway-redis']);
  await post('warm', '9');
  await proxy.addToxic({ name: 'slow', type: 'latency', stream: 'downstream', toxicity: 1, attributes: { latency: 150, jitter: 0 } } as never);
  const inHand = post('r-1', '1');
  await new Promise((resolve) => setTimeout(resolve, 30));
  const started = performance.now();
  await gateway?.stop();
  expect(performance.now() - started).toBeLessThan(5_000);
  expect((await inHand).status).toBe(202);
  const refused = await new Promise((resolve) => {
    connect({ host: '127.0.0.1', port: listenPort }, () => { resolve('accepted'); }).on('error', () => { resolve('refused'); });
  });
  expect(refused).toBe('refused');
});

test('a port in use is told by a rejection', async () => {
  await startWith(1);
  await expect(startWithSamePort()).rejects.toThrow(/EADDRINUSE/);
});

function startWithSamePort(): Promise<RunningRole> {
  return composeRole(
    {
      role: 'gateway', instance: 'gateway-2', namespace, activityId: SKU.activityId, skuIds: [SKU.skuId],
      addresses: { redis: links['gateway-redis'], kafka: links['gateway-kafka'], postgres: stack.direct.postgres },
      listen: { host: '127.0.0.1', port: listenPort }, strategies: { consumer: 'batch:100', allocator: 'token' }, tuning: DEFAULT_TUNING,
    },
    { ports: { reader }, log: () => undefined },
  );
}

const FUNNEL_ON = { ...DEFAULT_FUNNEL.layers, permit: true, 'sold-out-mark': true, breaker: true } as const;
const permitOf = (userId: string, nonce: string): string =>
  encodePermit({ activityId: SKU.activityId, skuId: SKU.skuId, userId, expiresAtMs: Date.now() + 60_000, nonce }, (payload) => createHmac('sha256', DEFAULT_FUNNEL.permitSecret).update(payload).digest('base64url'));
const buyWith = (requestId: string, userId: string, permit: string, deviceId?: string) =>
  http('POST', PATH, { 'Idempotency-Key': requestId, 'X-User-Id': userId, 'X-Permit': permit, ...(deviceId === undefined ? {} : { 'X-Device-Id': deviceId }) }, '{"quantity":1}');

test('permits, devices, the mark and the page over HTTP', async () => {
  await startWith(1, { funnel: { ...DEFAULT_FUNNEL, layers: FUNNEL_ON } });
  const page = async () => (await http('GET', '/v1/activities/7/skus/70/state', {})) as unknown as { status: number; body: SkuState; headers: Record<string, string> };
  expect(await page()).toMatchObject({ status: 200, body: { state: 'OPEN', activityVersion: '1' }, headers: { 'cache-control': 'max-age=1' } });
  expect(await post('r-1', '1')).toMatchObject({ status: 403, body: { code: 'PERMIT_INVALID', reason: 'MISSING' } });
  expect(await buyWith('r-1', '1', permitOf('2', 'nonce-01'))).toMatchObject({ status: 403, body: { reason: 'FORGED' } });
  expect(await buyWith('r-1', '1', permitOf('1', 'nonce-01'), 'no device')).toMatchObject({ status: 400 });
  const won = await buyWith('r-1', '1', permitOf('1', 'nonce-01'), 'device-1');
  expect(won).toMatchObject({ status: 202 });
  // Known by now: its repeat needs no permit, and another id cannot spend the same one.
  expect(await post('r-1', '1')).toMatchObject({ status: 200, body: { reservationId: won.body.reservationId } });
  expect(await buyWith('r-2', '1', permitOf('1', 'nonce-01'))).toMatchObject({ status: 403, body: { reason: 'SPENT' } });
  await expect.poll(async () => {
    const refused = await buyWith(`s-${randomBytes(4).toString('hex')}`, '9', permitOf('9', randomBytes(8).toString('hex')));
    expect(refused).toMatchObject({ status: 410, body: { code: 'TEMP_SOLD_OUT' }, headers: { 'retry-after': '1' } });
    return (await page()).body.state;
  }).toBe('TEMP_SOLD_OUT');
  expect(await http('GET', '/v1/activities/7/skus/71/state', {})).toMatchObject({ status: 404 });
  expect((await http('POST', '/v1/activities/7/skus/70/state', {})).status).toBe(404);
});

test('the broker is gone: the breaker stops new ids before they reserve, repeats pass, and it closes by itself', async () => {
  await startWith(100, { funnel: { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, breaker: true }, breaker: { failures: 3, openMs: 200 } } });
  await setProxy(proxies['gateway-kafka'], false);
  const before = await Promise.all(['a', 'b', 'c'].map((id, index) => post(id, String(index + 1))));
  expect(before.map(({ body }) => body.code)).toEqual(['QUEUED_PENDING_MESSAGE', 'QUEUED_PENDING_MESSAGE', 'QUEUED_PENDING_MESSAGE']);
  const started = performance.now();
  for (let index = 0; performance.now() - started < 1_000; index += 1) expect((await post(`n-${String(index)}`, String(1_000 + index))).body.code).toBe('UNAVAILABLE');
  expect(await post('a', '1')).toMatchObject({ status: 200, body: { reservationId: before[0]?.body.reservationId } });
  expect(await withRedis(async (redis) => redis.hlen(`${namespace.redisPrefix}seckill:{7:70}:requests`))).toBe(3);
  await setProxy(proxies['gateway-kafka'], true);
  await expect.poll(async () => (await post(`x-${randomBytes(4).toString('hex')}`, String(Date.now()))).body.code, { timeout: 5_000 }).toBe('QUEUED');
});

test('another version of the activity is in force at once: the request under the old one is decided by the new one', async () => {
  await startWith(10);
  await post('r-1', '1');
  await withRedis((redis) => redis.hset(`${namespace.redisPrefix}seckill:{7:70}:meta`, 'activityVersion', '2'));
  expect(await post('r-2', '2')).toMatchObject({ status: 202 });
});
