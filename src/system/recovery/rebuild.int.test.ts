// Redis falls back to an older state (C4): admission pauses, Redis is rebuilt from PostgreSQL, nobody gets a second order, nothing is oversold.
import { Redis } from 'ioredis';
import { Toxiproxy } from 'toxiproxy-node-client';
import { expect, inject, test } from 'vitest';

import { ReconciliationCase, SKU } from './reconciliation-case.test-support.js';

const stack = inject('stack');
const LANE = 1;

/** The replica of the stack becomes a primary that lacks what comes after; the returned function puts the pair back. */
async function cutOffReplica(): Promise<() => Promise<void>> {
  const replica = new Redis({ ...stack.direct.redisReplica });
  const [, of] = (await replica.config('GET', 'replicaof')) as [string, string];
  const [host = '', port = ''] = of.split(' ');
  // Everything so far has arrived there.
  const primary = new Redis({ ...stack.direct.redisPrimary });
  await primary.set('marker', 'here');
  await expect.poll(() => replica.get('marker')).toBe('here');
  await primary.del('marker');
  primary.disconnect();
  await replica.call('REPLICAOF', 'NO', 'ONE');
  return async () => {
    await replica.call('REPLICAOF', host, port);
    await expect.poll(async () => (await replica.info('replication')).includes('master_link_status:up'), { timeout: 20_000 }).toBe(true);
    replica.disconnect();
  };
}

/** All Redis proxies of the lane lead to this server; connections that stand are cut. */
async function pointProxiesAt(address: { host: string; port: number }): Promise<void> {
  const toxiproxy = new Toxiproxy(`http://${stack.direct.toxiproxyApi.host}:${String(stack.direct.toxiproxyApi.port)}`);
  for (const [link, name] of Object.entries(stack.lanes[LANE]?.proxies ?? {})) {
    if (!link.endsWith('-redis')) continue;
    const proxy = await toxiproxy.get(name);
    await proxy.update({ enabled: false, listen: proxy.listen, upstream: `${address.host}:${String(address.port)}` });
    await proxy.update({ enabled: true, listen: proxy.listen, upstream: `${address.host}:${String(address.port)}` });
  }
}

test('C4: 50 more are sold, Redis falls back to before them: paused, rebuilt, reopened in steps; no second order, no oversell', async () => {
  await using world = await ReconciliationCase.open({ stock: 150, redisThroughLane: LANE });
  await world.start('reconciler');
  await world.ordersFor(50);
  await expect.poll(() => world.count('SELECT count(*)::int AS n FROM redis_mirror')).toBe(1);
  const putBack = await cutOffReplica();
  try {
    await world.ordersFor(50, 51);
    world.redis.disconnect();
    world.redis = new Redis({ ...stack.direct.redisReplica });
    expect(await world.stockLeft()).toBe(100);
    await world.stop('reconciler');
    await pointProxiesAt(stack.direct.redisReplica);
    // Whatever the moment at which its connection comes back: never a new reservation on the stranger.
    await expect.poll(async () => (await world.buy('r51', '51')).answer.code, { timeout: 10_000 }).toBe('PAUSED');
    expect((await world.buy('new', '500')).answer).toMatchObject({ code: 'PAUSED', reservationId: null });
    expect((await world.gateway.query({ ...SKU, requestId: 'r51', userId: '51' })).answer.code).toBe('ORDERED');

    await world.start('reconciler');
    await expect.poll(() => world.redis.hmget(world.keys.meta, 'status', 'epoch', 'heldBack'), { timeout: 20_000 }).toEqual(['open', '2', '0']);
    expect(await world.redis.get(world.keys.stock)).toBe('50');
    // The first call after it may have to learn the new epoch.
    await expect.poll(async () => (await world.buy('r51', '51')).answer).toMatchObject({ code: 'ORDERED', requestId: 'r51' });
    expect((await world.buy('another', '51')).answer.code).toBe('USER_HAS_ONE');
    const told = await Promise.all(Array.from({ length: 100 }, (_value, index) => world.buy(`n${String(index)}`, String(1_000 + index))));
    expect(told.filter(({ answer }) => answer.reservationId !== null)).toHaveLength(50);
    await world.settled();
    expect(await world.count('SELECT count(*)::int AS n FROM orders')).toBe(150);
    expect(await world.count('SELECT count(DISTINCT user_id)::int AS n FROM orders')).toBe(150);
    expect(await world.redis.get(world.keys.stock)).toBe('0');
    await world.stop('reconciler');
    expect((await world.reconcile(false)).found).toEqual([]);
  } finally {
    world.redis.disconnect();
    await pointProxiesAt(stack.direct.redisPrimary);
    await putBack();
    world.redis = new Redis({ ...stack.direct.redisPrimary });
  }
});

test('Redis lost everything: rebuilt with every order, and what was reserved and only in the topic', async () => {
  await using world = await ReconciliationCase.open({ stock: 20 });
  await world.start('reconciler');
  await world.ordersFor(5);
  await expect.poll(() => world.count('SELECT count(*)::int AS n FROM redis_mirror')).toBe(1);
  await world.stop('consumer');
  await world.buy('r6', '6');
  await expect.poll(() => world.redis.hget(world.keys.requests, 'r6')).toMatch(/^S/);
  await world.redis.del(...Object.values(world.keys) as string[]);
  // Not drained while the consumer is away; then its patience ends, and r6 is carried over with its unit.
  await expect.poll(() => world.redis.hmget(world.keys.meta, 'status', 'epoch', 'heldBack'), { timeout: 20_000 }).toEqual(['open', '2', '0']);
  expect(await world.redis.get(world.keys.stock)).toBe('14');
  expect(await world.redis.hget(world.keys.requests, 'r6')).toMatch(/^S/);
  expect(await world.redis.hget(world.keys.users, '6')).toBe('r6');
  await world.start('consumer');
  await world.settled();
  expect(await world.count('SELECT count(*)::int AS n FROM orders')).toBe(6);
  await world.stop('reconciler');
  expect((await world.reconcile(false)).found).toEqual([]);
});

test('survivors that were never sent become orders, events wait and are not lost, and a reconciler killed half way is followed by another', async () => {
  await using world = await ReconciliationCase.open({ stock: 20 });
  await world.ordersFor(3);
  const token = (await world.tools.store.lease(60_000)) ?? 0;
  await world.tools.store.saveKnownRedis(SKU, { epoch: 1, runId: await world.redis.hget(world.keys.meta, 'runId') ?? '' }, token, false);
  // An earlier holder had begun: paused, and gone.
  expect(await world.tools.mirror.rebuildBegin(SKU, token)).toEqual({ outcome: 'done', value: 'paused' });
  await world.tools.mirror.rebuildPage(SKU, token, { records: [['half', 'written']], users: [], pending: [] });
  await world.tools.store.freeLease();
  expect((await world.buy('x', '99')).answer.code).toBe('PAUSED');
  await world.start('reconciler');
  await expect.poll(() => world.redis.hmget(world.keys.meta, 'status', 'epoch', 'heldBack'), { timeout: 20_000 }).toEqual(['open', '2', '0']);
  expect(await world.redis.hlen(world.keys.requests)).toBe(3);
  expect(await world.redis.get(world.keys.stock)).toBe('17');
  // The first holder wakes up: fenced.
  expect(await world.tools.mirror.rebuildBegin(SKU, token)).toEqual({ outcome: 'done', value: 'fenced' });
  expect(await world.redis.hget(world.keys.meta, 'status')).toBe('open');
  expect(await world.tools.mirror.rebuildPage(SKU, token, { records: [['late', 'written']], users: [], pending: [] })).toEqual({ outcome: 'done', value: 'fenced' });
  expect(await world.tools.mirror.rebuildFinish(SKU, token, 20, { activityVersion: '1', startAtMs: 0, endAtMs: 9e12, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '9' })).toEqual({ outcome: 'done', value: 'fenced' });
  await world.stop('reconciler');
});

test('events that come during a rebuild are applied after it', async () => {
  await using world = await ReconciliationCase.open({ stock: 20 });
  await world.stop('projector');
  await world.stop('scanner');
  await world.buy('r1', '1');
  await expect.poll(() => world.count('SELECT count(*)::int AS n FROM orders'), { timeout: 10_000 }).toBe(1);
  const token = (await world.tools.store.lease(60_000)) ?? 0;
  await world.tools.mirror.rebuildBegin(SKU, token);
  await world.start('projector');
  await expect.poll(async () => (await world.roles.get('projector')?.health())?.length, { timeout: 20_000 }).toBe(0);
  await expect.poll(() => world.count('SELECT count(*)::int AS n FROM event_outbox WHERE status <> 20 AND available_at <= now()')).toBe(0);
  expect(await world.redis.hget(world.keys.requests, 'r1')).toMatch(/^[PS]/);
  await world.redis.hset(world.keys.meta, 'status', 'open');
  await expect.poll(() => world.redis.hget(world.keys.requests, 'r1'), { timeout: 10_000 }).toMatch(/^O/);
});
