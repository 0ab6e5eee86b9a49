/** Batches over HTTP with a real Redis and a real broker: every caller gets his own answer, also when the batch as a whole fails. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { BATCH_BODY_MAX_BYTES, BATCH_CONTENT_TYPES, batchPath } from '../../../domain/batch-contract.js';
import { namespaceOf, type Namespace } from '../../../domain/namespace.js';
import { ANSWER_CODES_BY_NUMBER } from '../../../domain/reason-codes.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning } from '../../../domain/role-config.js';
import { DEFAULT_FUNNEL } from '../../../domain/funnel.js';
import { composeRole } from '../../compose.js';
import { deleteTopics, ensureTopics } from '../../order-log/topics.js';
import type { RunningRole } from '../../role.js';
import { runIdOf } from '../../stock/epoch-guard.js';
import { connectStock } from '../../stock/redis-stock.js';

const SKU = { activityId: '7', skuId: '70' };
const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { links, proxies } = lane;
const listenPort = lane.rolePorts[0] ?? 0;
const toxiproxy = new Toxiproxy(`http://${stack.direct.toxiproxyApi.host}:${String(stack.direct.toxiproxyApi.port)}`);
let namespace: Namespace;
let gateway: RunningRole | null = null;

beforeEach(() => {
  namespace = namespaceOf(`b${randomBytes(6).toString('hex')}`);
});

afterEach(async () => {
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
  await direct.warmUp(SKU, { stock, meta: { activityVersion: '1', startAtMs: now - 1_000, endAtMs: now + 600_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1', runId } as never });
  await direct.close();
  const config: RoleConfig = {
    role: 'gateway', instance: 'gateway-1', namespace, activityId: SKU.activityId, skuIds: [SKU.skuId],
    addresses: { redis: links['gateway-redis'], kafka: links['gateway-kafka'], postgres: stack.direct.postgres },
    listen: { host: '127.0.0.1', port: listenPort }, strategies: { consumer: 'batch:100', allocator: 'token' }, tuning: { ...DEFAULT_TUNING, warmUpRequests: 0, ...tuning },
  };
  const reader = { lookup: () => Promise.resolve({ outcome: 'done', state: null } as const), ready: () => Promise.resolve(true), close: () => Promise.resolve() };
  const role = await composeRole(config, { ports: { reader }, log: () => undefined });
  gateway = role;
  await expect.poll(() => role.health(), { timeout: 10_000 }).toEqual([]);
}

interface Told {
  readonly status: number;
  readonly code: string;
  readonly requestId?: string;
  readonly reservationId?: string;
  readonly location?: string;
}

async function send(body: string | Buffer, type: string = BATCH_CONTENT_TYPES.json, sku = SKU): Promise<{ status: number; body: Buffer }> {
  const answer = await fetch(`http://127.0.0.1:${String(listenPort)}${batchPath(sku.activityId, sku.skuId)}`, { method: 'POST', headers: { 'Content-Type': type }, body: typeof body === 'string' ? body : new Uint8Array(body) });
  return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
}

async function buy(...items: unknown[]): Promise<readonly Told[]> {
  const { status, body } = await send(JSON.stringify(items));
  expect(status).toBe(200);
  return JSON.parse(body.toString()) as Told[];
}
const item = (requestId: string, userId: string, more: object = {}): object => ({ requestId, userId, quantity: 1, ...more });
const storedRequests = () => withRedis(async (redis) => redis.hlen((await redis.keys(`${namespace.redisPrefix}*req*`))[0] ?? 'none'));

test('repeats of a request and of a user inside one batch: one reservation, and each caller his own answer', async () => {
  await startWith(2);
  const told = await buy(item('a', '1'), item('a', '1'), item('a', '2'), item('b', '1'), item('a', '1', { clientTag: 'x' }), { nonsense: true }, item('c', '3'), item('d', '4'), item('a', '1'));
  expect(told.map(({ status, code }) => [status, code])).toEqual([
    [202, expect.stringMatching(/^QUEUED/)], [200, expect.stringMatching(/^QUEUED/)], [409, 'IDEMPOTENCY_CONFLICT'], [409, 'USER_HAS_ONE'], [409, 'IDEMPOTENCY_CONFLICT'], [400, 'INVALID'],
    [202, expect.stringMatching(/^QUEUED/)], [410, 'SOLD_OUT'], [200, expect.stringMatching(/^QUEUED/)],
  ]);
  expect(new Set([told[0], told[1], told[8]].map((answer) => answer?.reservationId)).size).toBe(1);
  expect(told.map(({ requestId }) => requestId)).toEqual(['a', 'a', 'a', 'b', 'a', undefined, 'c', 'd', 'a']);
  expect(told[0]?.location).toBe('/v1/activities/7/skus/70/requests/a');
});

test('512 buyers in a batch for 100 units: 100 accepted, in all three forms the same', async () => {
  await startWith(100);
  const told = await buy(...Array.from({ length: 512 }, (_, n) => item(`r-${String(n)}`, String(n + 1))));
  expect(told.filter(({ status }) => status === 202).map(({ requestId }) => requestId)).toEqual(Array.from({ length: 100 }, (_, n) => `r-${String(n)}`));
  expect(told.filter(({ code }) => code === 'SOLD_OUT')).toHaveLength(412);
  const lines = await send(`${JSON.stringify(item('r-0', '1'))}\nnot json\n`, BATCH_CONTENT_TYPES.ndjson);
  expect(lines.body.toString().trimEnd().split('\n').map((line) => (JSON.parse(line) as Told).status)).toEqual([200, 400]);
  const bytes = Buffer.alloc(64);
  bytes.writeBigUInt64BE(1n, 0);
  bytes[8] = 3;
  bytes.write('r-0', 9);
  const binary = await send(bytes, BATCH_CONTENT_TYPES.binary);
  expect([binary.body.readUInt16BE(0), ANSWER_CODES_BY_NUMBER[binary.body[2] ?? 255]]).toEqual([200, expect.stringMatching(/^QUEUED/)]);
  expect(binary.body.subarray(8, 24).toString('hex')).toBe(told[0]?.reservationId?.replaceAll('-', ''));
  expect([binary.body.readUInt16BE(32), ANSWER_CODES_BY_NUMBER[binary.body[34] ?? 255]]).toEqual([400, 'INVALID']);
});

test('what is no batch reserves nothing', async () => {
  await startWith(10);
  const good = item('a', '1');
  expect((await send(`[${JSON.stringify(good)},`)).status).toBe(400);
  expect((await send(JSON.stringify(Array.from({ length: 513 }, (_, n) => item(`r${String(n)}`, String(n + 1)))))).status).toBe(400);
  expect((await send(JSON.stringify([item('a', '1', { clientTag: 'x'.repeat(BATCH_BODY_MAX_BYTES) })]))).status).toBe(400);
  expect((await send(JSON.stringify([good]), 'text/html')).status).toBe(400);
  expect((await send(JSON.stringify([good]), BATCH_CONTENT_TYPES.json, { activityId: '7', skuId: '71' })).status).toBe(404);
  expect(await storedRequests()).toBe(0);
});

test('the answer of the reserve call is lost: every caller hears RESULT_UNKNOWN, and the repeat of the batch finds the same reservations', async () => {
  await startWith(100);
  await buy(item('warm', '999'));
  const proxy = await toxiproxy.get(proxies['gateway-redis']);
  const toxic = await proxy.addToxic({ name: 'lost', type: 'limit_data', stream: 'downstream', toxicity: 1, attributes: { bytes: 0 } } as never);
  const batch = Array.from({ length: 20 }, (_, n) => item(`r-${String(n)}`, String(n + 1)));
  const lost = await buy(...batch, { quantity: 1 });
  expect(lost.slice(0, 20).every(({ status, code, reservationId, location }) => status === 503 && code === 'RESULT_UNKNOWN' && reservationId === undefined && location !== undefined)).toBe(true);
  expect(lost[20]?.code).toBe('INVALID');
  await toxic.remove();
  await expect.poll(async () => (await buy(...batch)).every(({ status }) => status === 200), { timeout: 5_000 }).toBe(true);
  expect(await storedRequests()).toBe(21);
});

test('every layer of the funnel sees every item', async () => {
  await startWith(100, { funnel: { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, 'user-bucket': true }, userBucket: { perSecond: 0.001, burst: 2 } } });
  const told = await buy(item('a', '1'), item('b', '1'), item('c', '1'), item('d', '2'));
  expect(told.map(({ status }) => status)).toEqual([202, 409, 429, 202]);
});

test('beyond maxInFlight the rest of a batch hears 429', async () => {
  await startWith(100, { maxInFlight: 5 });
  const told = await buy(...Array.from({ length: 8 }, (_, n) => item(`r-${String(n)}`, String(n + 1))));
  expect(told.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 429, 429, 429]);
});
