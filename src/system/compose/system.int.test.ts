/**
 * All five roles composed over real servers, in one process: what a buyer is told, and that the protocol ends in an order whatever was lost
 * on the way. PostgreSQL's database is made from the migrations.
 */
import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import pg from 'pg';
import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning, type Strategies } from '../../domain/role-config.js';
import type { RoleName } from '../../domain/roles.js';
import { composeRole } from '../compose.js';
import type { GatewayAnswer } from '../gateway/answers.js';
import type { GatewayCore } from '../gateway/start-gateway.js';
import { migrate } from '../ledger/migrate.js';
import { seedActivity } from '../ledger/seed.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import { deleteTopics, ensureTopics } from '../order-log/topics.js';
import type { RunningRole } from '../role.js';
import { runIdOf } from '../stock/epoch-guard.js';
import { connectStock } from '../stock/redis-stock.js';
import { composeGatewayCore } from './gateway.js';
import type { RoleOverrides } from './ports.js';

const SKU = { activityId: '7', skuId: '70' };
const TUNING: RoleTuning = { ...DEFAULT_TUNING, resendAfterMs: 300, scannerIntervalMs: 100 };
const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { links, proxies, rolePorts } = lane;
const { direct } = stack;
const toxiproxy = new Toxiproxy(`http://${direct.toxiproxyApi.host}:${String(direct.toxiproxyApi.port)}`);

let namespace: Namespace;
let roles: RunningRole[] = [];
let gateway: GatewayCore | null = null;

async function withPostgres<T>(database: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ ...direct.postgres, database });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function prepare(stock: number, rules: Readonly<Record<string, boolean>> = {}): Promise<void> {
  await withPostgres('postgres', (client) => client.query(`CREATE DATABASE ${namespace.database}`));
  const now = Date.now();
  const window = { startAtMs: now - 60_000, endAtMs: now + 600_000 };
  await withPostgres(namespace.database, async (client) => {
    await migrate(client);
    await seedActivity(client, { ...SKU, ...window, version: '1', stock, unitPrice: '100', currency: 'CNY', rules, bucketCount: 1 });
  });
  await ensureTopics({ address: direct.kafka, namespace, partitions: 4 });
  const redis = new Redis({ ...direct.redisPrimary });
  const runId = runIdOf(await redis.info('server'));
  redis.disconnect();
  const mirror = connectStock(direct.redisPrimary, namespace);
  await mirror.whenConnected(5_000);
  const meta = { ...window, activityVersion: '1', unitPrice: '100', currency: 'CNY', status: 'open', epoch: '1', runId };
  await mirror.warmUp(SKU, { stock, meta });
  await mirror.close();
}

function configOf(role: RoleName, port: number, strategies: Strategies, tuning: Partial<RoleTuning> = {}): RoleConfig {
  const through = (store: 'redis' | 'kafka' | 'postgres') => links[`${role}-${store}`];
  return {
    role, instance: `${role}-1`, namespace, activityId: SKU.activityId, skuIds: [SKU.skuId], listen: { host: '127.0.0.1', port }, strategies, tuning: { ...TUNING, ...tuning },
    addresses: { redis: through('redis'), kafka: through('kafka'), postgres: { ...direct.postgres, ...through('postgres') } },
  };
}

async function startAll(strategies: Strategies, gatewayOverrides: RoleOverrides = {}, more: { readonly roles: readonly RoleName[]; readonly tuning: Partial<RoleTuning> } = { roles: [], tuning: {} }): Promise<GatewayCore> {
  const quiet: RoleOverrides = { log: () => undefined };
  const names: readonly RoleName[] = ['consumer', 'scanner', 'relay', 'projector', ...more.roles];
  roles = await Promise.all(names.map((name, index) => composeRole(configOf(name, rolePorts[index] ?? 0, strategies, more.tuning), quiet)));
  const core = composeGatewayCore(configOf('gateway', 0, strategies), { ...quiet, ...gatewayOverrides });
  gateway = core;
  await expect.poll(async () => (await Promise.all([...roles, core].map((role) => role.health()))).flat(), { timeout: 20_000 }).toEqual([]);
  return core;
}

const buy = async (core: GatewayCore, requestId: string, userId: string): Promise<GatewayAnswer> => core.submit({ ...SKU, requestId, userId, body: '{"quantity":1}' });
const ask = async (core: GatewayCore, requestId: string, userId: string) => (await core.query({ ...SKU, requestId, userId })).answer;
const orders = (): Promise<number> =>
  withPostgres(namespace.database, async (client) => (await client.query<{ n: number }>('SELECT count(*)::int AS n FROM orders')).rows[0]?.n ?? -1);

beforeEach(() => {
  namespace = namespaceOf(`s${randomBytes(6).toString('hex')}`);
});

afterEach(async () => {
  await toxiproxy.reset();
  await Promise.all([...roles.map((role) => role.stop()), gateway?.close()]);
  roles = [];
  gateway = null;
  await deleteTopics(direct.kafka, namespace);
  await withPostgres('postgres', (client) => client.query(`DROP DATABASE IF EXISTS ${namespace.database} WITH (FORCE)`));
  const redis = new Redis({ ...direct.redisPrimary });
  const keys = await redis.keys(`${namespace.redisPrefix}*`);
  if (keys.length > 0) await redis.del(...keys);
  redis.disconnect();
});

test.each<Strategies>([
  { consumer: 'batch:100', allocator: 'token' },
  { consumer: 'single', allocator: 'row' },
])('150 buyers for 50 units, $consumer and $allocator: 50 orders, and every winner hears of his own', async (strategies) => {
  await prepare(50);
  const core = await startAll(strategies);
  const told = await Promise.all(Array.from({ length: 150 }, (_value, index) => buy(core, `r-${String(index)}`, String(index + 1))));
  const winners = told.flatMap(({ answer }, index) => (answer.reservationId === null ? [] : [index]));
  expect(winners).toHaveLength(50);
  await expect.poll(orders, { timeout: 20_000 }).toBe(50);
  await expect.poll(async () => (await Promise.all(winners.map((index) => ask(core, `r-${String(index)}`, String(index + 1))))).map(({ code }) => code), { timeout: 20_000 }).toEqual(winners.map(() => 'ORDERED'));
});

test('C15: the message is never sent by the gateway: the scanner sends it, with the same ids, and there is an order', async () => {
  await prepare(5);
  const mute: LogProducer = { send: () => Promise.resolve({ outcome: 'surely-not-sent', reason: 'test' }), ready: () => Promise.resolve(true), close: () => Promise.resolve() };
  const core = await startAll({ consumer: 'batch:100', allocator: 'token' }, { wrap: { producer: () => mute } });
  const { answer } = await buy(core, 'r-1', '1');
  expect(answer.code).toBe('QUEUED_PENDING_MESSAGE');
  await expect.poll(async () => (await ask(core, 'r-1', '1')).code, { timeout: 20_000 }).toBe('ORDERED');
  expect((await ask(core, 'r-1', '1')).reservationId).toBe(answer.reservationId);
});

test('C17: the broker stored it and its answer was lost: the scanner sends again, and there is one order', async () => {
  await prepare(5);
  const core = await startAll({ consumer: 'batch:100', allocator: 'token' });
  await buy(core, 'warm', '9');
  const proxy = await toxiproxy.get(proxies['gateway-kafka']);
  const toxic = await proxy.addToxic({ name: 'lost', type: 'timeout', stream: 'downstream', toxicity: 1, attributes: { timeout: 0 } } as never);
  expect((await buy(core, 'r-1', '1')).answer.code).toBe('QUEUED_PENDING_MESSAGE');
  await toxic.remove();
  await expect.poll(async () => (await ask(core, 'r-1', '1')).code, { timeout: 20_000 }).toBe('ORDERED');
  expect(await orders()).toBe(2);
});

test.each([true, false])('an unpaid order ends by its timer: the unit is sold again, and buying again is a rule (%s)', async (rebuyAfterCancel) => {
  await prepare(1, { rebuyAfterCancel });
  // The sweep is far away: the message does it.
  const core = await startAll({ consumer: 'batch:100', allocator: 'token' }, {}, { roles: ['closer', 'payment'], tuning: { paymentWindowMs: 1_500, closerSweepGraceMs: 600_000 } });
  await buy(core, 'r-1', '1');
  await expect.poll(async () => (await ask(core, 'r-1', '1')).code, { timeout: 20_000 }).toBe('ORDERED');
  expect((await buy(core, 'r-2', '2')).answer.code).toMatch(/SOLD_OUT/);
  await expect.poll(async () => await ask(core, 'r-1', '1'), { timeout: 20_000 }).toMatchObject({ code: 'RELEASED', reason: 'PAY_TIMEOUT' });
  // The unit that came back waits for the sold-out marks before it is sold.
  const again = async (requestId: string, userId: string): Promise<string> => (await buy(core, requestId, userId)).answer.code;
  if (!rebuyAfterCancel) {
    await expect.poll(() => again('r-3', '1'), { timeout: 20_000 }).toBe('USER_HAS_ONE');
    // Another user gets the unit, and pays in time.
    await expect.poll(() => again('r-4', '2'), { timeout: 20_000 }).toMatch(/^(QUEUED|ORDERED)/);
    await expect.poll(async () => (await ask(core, 'r-4', '2')).code, { timeout: 20_000 }).toBe('ORDERED');
    return;
  }
  await expect.poll(() => again('r-3', '1'), { timeout: 20_000 }).toMatch(/^(QUEUED|ORDERED)/);
  await expect.poll(async () => (await ask(core, 'r-3', '1')).code, { timeout: 20_000 }).toBe('ORDERED');
  expect((await withPostgres(namespace.database, (client) => client.query('select purchase_no from orders order by 1'))).rows).toEqual([{ purchase_no: 1 }, { purchase_no: 2 }]);
});

test('a role that is not built is refused by its name', async () => {
  await expect(composeRole({ ...configOf('gateway', 0, { consumer: 'single', allocator: 'row' }), role: 'cashier' as RoleName })).rejects.toThrow('role not built yet: cashier');
});
