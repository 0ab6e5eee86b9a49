/**
 * All roles over real servers with everything switched on: one trace from the request to the projection, logs without a user, metrics of the
 * papers in the roles' registries and no id in any label.
 */
import { randomBytes } from 'node:crypto';

import { trace } from '@opentelemetry/api';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { PAPER_NAMES, PAPER_ROWS } from './support/metrics-page.js';
import { samplesOf, type Sample } from './support/prom-evaluation.js';
import { namespaceOf, type Namespace } from '../src/domain/namespace.js';
import { cancelPath } from '../src/domain/payment-contract.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning } from '../src/domain/role-config.js';
import { ROLE_NAMES, type RoleName } from '../src/domain/roles.js';
import { composeRole } from '../src/system/compose.js';
import { migrate } from '../src/system/ledger/migrate.js';
import { seedActivity } from '../src/system/ledger/seed.js';
import { deleteTopics, ensureTopics } from '../src/system/order-log/topics.js';
import { createRoleMetrics, type RoleMetrics } from '../src/system/role-metrics.js';
import type { RunningRole } from '../src/system/role.js';
import { runIdOf } from '../src/system/stock/epoch-guard.js';
import { connectStock } from '../src/system/stock/redis-stock.js';
import { registerMemoryTracer, type MemorySpan } from '../src/system/tracing/memory-tracer.test-support.js';
import { createJsonLog } from '../src/system/compose/json-log.js';

const SKU = { activityId: '7', skuId: '70' };
/** Long and odd enough to be found anywhere. */
const USERS = ['990000000000000001', '990000000000000002', '990000000000000003'] as const;
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const CANCELLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const traceOf = (traceparent: string): string => traceparent.split('-')[1] ?? '';
const TUNING: RoleTuning = { ...DEFAULT_TUNING, warmUpRequests: 0, tracing: true, storeFiguresIntervalMs: 200, sendBudgetMs: 10_000 };
const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { direct } = stack;
const [gatewayPort = 0, paymentPort = 0] = lane.rolePorts;

let namespace: Namespace;
let roles: RunningRole[] = [];
const registries = new Map<RoleName, RoleMetrics>();
const logLines: string[] = [];
let spans: MemorySpan[] = [];

async function withPostgres<T>(database: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...direct.postgres, database });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function prepare(stock: number): Promise<void> {
  await withPostgres('postgres', (client) => client.query(`CREATE DATABASE ${namespace.database}`));
  const now = Date.now();
  const window = { startAtMs: now - 60_000, endAtMs: now + 600_000 };
  await withPostgres(namespace.database, async (client) => {
    await migrate(client);
    await seedActivity(client, { ...SKU, ...window, version: '1', stock, unitPrice: '100', currency: 'CNY', rules: { restockOnCancel: true, rebuyAfterCancel: false }, bucketCount: 1 });
  });
  await ensureTopics({ address: direct.kafka, namespace, partitions: 2 });
  const redis = new Redis({ ...direct.redisPrimary });
  const runId = runIdOf(await redis.info('server'));
  redis.disconnect();
  const mirror = connectStock(direct.redisPrimary, namespace);
  await mirror.whenConnected(5_000);
  await mirror.warmUp(SKU, { stock, meta: { ...window, activityVersion: '1', unitPrice: '100', currency: 'CNY', status: 'open', epoch: '1', runId } as Parameters<typeof mirror.warmUp>[1]['meta'] });
  await mirror.close();
}

function configOf(role: RoleName): RoleConfig {
  return {
    role, instance: `${role}-1`, namespace, ...SKU, skuIds: [SKU.skuId], listen: { host: '127.0.0.1', port: role === 'gateway' ? gatewayPort : role === 'payment' ? paymentPort : 0 },
    strategies: { consumer: 'batch:100', allocator: 'token' }, tuning: TUNING, addresses: { redis: direct.redisPrimary, kafka: direct.kafka, postgres: direct.postgres },
  };
}

async function startAll(): Promise<void> {
  roles = await Promise.all(ROLE_NAMES.map((role) => {
    const config = configOf(role);
    const metrics = createRoleMetrics(role, config.instance, { labels: { availability_zone: 'local' } });
    registries.set(role, metrics);
    return composeRole(config, { metrics, log: createJsonLog(config.instance, config, { write: (line) => void logLines.push(line) }) });
  }));
  await expect.poll(async () => (await Promise.all(roles.map((role) => role.health()))).flat(), { timeout: 30_000 }).toEqual([]);
}

async function buy(userId: string, requestId: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${String(gatewayPort)}/v1/activities/7/skus/70/reservations`, {
    method: 'POST', body: '{"quantity":1}', headers: { 'idempotency-key': requestId, 'x-user-id': userId, ...headers },
  });
  return ((await answer.json()) as { code: string }).code;
}

async function state(userId: string, requestId: string): Promise<{ code: string; reservationId: string | null; orderId: string | null }> {
  const answer = await fetch(`http://127.0.0.1:${String(gatewayPort)}/v1/activities/7/skus/70/requests/${requestId}`, { headers: { 'x-user-id': userId } });
  return (await answer.json()) as { code: string; reservationId: string | null; orderId: string | null };
}

const scrape = async (): Promise<Sample[]> => (await Promise.all([...registries.values()].map((metrics) => metrics.text()))).flatMap(samplesOf);

beforeEach(() => {
  namespace = namespaceOf(`o${randomBytes(6).toString('hex')}`);
  spans = registerMemoryTracer();
});

afterEach(async () => {
  await Promise.all(roles.map((role) => role.stop()));
  roles = [];
  trace.disable();
  await deleteTopics(direct.kafka, namespace);
  await withPostgres('postgres', (client) => client.query(`DROP DATABASE IF EXISTS ${namespace.database} WITH (FORCE)`));
  const redis = new Redis({ ...direct.redisPrimary });
  const keys = await redis.keys(`${namespace.redisPrefix}*`);
  if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
});

test('a purchase is one trace, is counted under the papers’ names, and leaves no id in a label and no user in a log', async () => {
  await prepare(2);
  await startAll();
  expect(await buy(USERS[0], 'private-1', { traceparent: CALLER })).toBe('QUEUED');
  expect(await buy(USERS[1], 'private-2')).toBe('QUEUED');
  await expect.poll(async () => (await Promise.all([state(USERS[0], 'private-1'), state(USERS[1], 'private-2')])).map(({ code }) => code), { timeout: 30_000 }).toEqual(['ORDERED', 'ORDERED']);
  expect(await buy(USERS[0], 'private-1')).toBe('ORDERED');
  expect(await buy(USERS[2], 'private-3')).toMatch(/SOLD_OUT$/);
  const ends = [await state(USERS[0], 'private-1'), await state(USERS[1], 'private-2')];

  // One trace.
  const whole = ['HTTP POST', 'reserve', 'send orders', 'process orders', 'order transaction', 'relay', 'send events', 'process events', 'project'];
  const inTrace = (): string[] => spans.filter((span) => span.spanContext().traceId === traceOf(CALLER)).map(({ name }) => name);
  await expect.poll(() => whole.filter((name) => !inTrace().includes(name)), { timeout: 10_000 }).toEqual([]);
  expect(spans.find(({ name }) => name === 'order transaction')?.events).toContain('consumer.before-commit');
  const { rows } = await withPostgres(namespace.database, (client) => client.query<{ headers: { traceparent?: string } }>("SELECT headers FROM event_outbox WHERE tag = 'ORDER_CREATED'"));
  expect(rows.filter(({ headers }) => headers.traceparent?.includes(traceOf(CALLER)))).toHaveLength(1);

  // The figures have been asked for, and the books are right.
  const gauge = async (name: string): Promise<number | undefined> => (await scrape()).find((sample) => sample.name === name)?.value;
  // A sampler rests fifty times as long as its last question took, and the first one, into cold stores, may have taken half a second.
  await expect.poll(() => gauge('postgres_order_created_count'), { timeout: 40_000 }).toBe(2);
  await expect.poll(() => gauge('redis_stock_value'), { timeout: 40_000 }).toBe(0);
  expect(await gauge('redis_reserved_count')).toBe(2);
  expect(await gauge('inventory_conservation_delta')).toBe(0);
  expect(await gauge('postgres_token_claimed_count')).toBe(2);
  expect(await gauge('wal_bytes')).toBeGreaterThan(0);
  expect(await gauge('seckill_scanner_last_pass_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000 - 30);

  // Every name of paper 000 that does not wait for a rare event, and the rows of paper 001.
  const samples = await scrape();
  const shown = new Set(samples.flatMap(({ name }) => [name, name.replace(/_(bucket|sum|count)$/, '')]));
  const rare = ['seckill_order_transaction_retries_total'];
  expect([...Object.values(PAPER_NAMES).flat(), ...PAPER_ROWS.flatMap(([, names]) => names)].filter((name) => !shown.has(name) && !rare.includes(name))).toEqual([]);

  // What a buyer does with an order is a trace of its own, from his request through the Outbox to the projection.
  const cancel = await fetch(`http://127.0.0.1:${String(paymentPort)}${cancelPath(ends[1]?.orderId ?? '')}`, { method: 'POST', headers: { 'x-user-id': USERS[1], traceparent: CANCELLER } });
  expect(await cancel.json()).toMatchObject({ code: 'CANCELLED' });
  const cancelled = (): string[] => spans.filter((span) => span.spanContext().traceId === traceOf(CANCELLER)).map(({ name }) => name);
  await expect.poll(cancelled, { timeout: 15_000 }).toEqual(expect.arrayContaining(['HTTP POST', 'relay', 'send events', 'process events', 'project']));
  const outboxTraces = await withPostgres(namespace.database, (client) => client.query<{ headers: { traceparent?: string } }>("SELECT headers FROM event_outbox WHERE tag = 'ORDER_CANCELLED'"));
  expect(outboxTraces.rows.map(({ headers }) => traceOf(headers.traceparent ?? ''))).toEqual([traceOf(CANCELLER)]);

  // No id in a label, whatever it is called.
  const secrets = [...USERS, 'private-1', 'private-2', 'private-3', ...ends.flatMap(({ reservationId, orderId }) => [reservationId ?? '-', orderId ?? '-'])];
  const looksLikeId = /[0-9a-f]{8}-[0-9a-f]{4}-|[0-9]{9,}|@/;
  expect(samples.filter(({ labels }) => Object.values(labels).some((value) => secrets.some((secret) => value.includes(secret)) || looksLikeId.test(value)))).toEqual([]);
  expect(samples.length).toBeGreaterThan(500);

  // No user in a log.
  for (const user of USERS) expect(logLines.join('')).not.toContain(user);
}, 120_000);
