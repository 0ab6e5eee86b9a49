// Every kind of difference made by hand on real stores, found by two looks, repaired once; repaired again nothing changes (paper 004 §12).
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { reconcileOnce } from './reconcile-once.js';
import { GRACE_MS, ReconciliationCase, SKU } from './reconciliation-case.test-support.js';
import type { DifferenceKind } from '../../domain/reconciliation.js';
import { createReconciliationStore } from '../ledger/reconciliation-store.js';
import { packRecord, unpackRecord } from '../stock/record-codec.js';
import type { StockRecord } from '../stock/stock-port.js';

async function recordOf(world: ReconciliationCase, requestId: string): Promise<StockRecord> {
  const record = unpackRecord(requestId, (await world.redis.hget(world.keys.requests, requestId)) ?? '');
  if (record === null) throw new Error(`no record ${requestId}`);
  return record;
}

const put = (world: ReconciliationCase, record: StockRecord): Promise<number> => world.redis.hset(world.keys.requests, record.requestId, packRecord(record));

/** Everything that Redis holds of the SKU but the notes of the repairs. */
async function contents(world: ReconciliationCase): Promise<unknown> {
  const { redis, keys } = world;
  const records = Object.entries(await redis.hgetall(keys.requests)).sort();
  return { stock: await redis.get(keys.stock), records, users: Object.entries(await redis.hgetall(keys.users)).sort(), pending: await redis.zrange(keys.pending, '0', '-1') };
}

interface Wrong {
  readonly kinds: readonly DifferenceKind[];
  readonly make: (world: ReconciliationCase) => Promise<unknown>;
}

const WRONGS: readonly Wrong[] = [
  { kinds: ['order-without-redis-record'], make: async (world) => { await world.redis.hdel(world.keys.requests, 'r1'); await world.redis.hdel(world.keys.users, '1'); await world.redis.incr(world.keys.stock); } },
  { kinds: ['order-without-redis-record', 'stock-counter-off'], make: (world) => world.redis.hdel(world.keys.requests, 'r1') },
  { kinds: ['redis-record-damaged'], make: (world) => world.redis.hset(world.keys.requests, 'r1', 'nonsense') },
  { kinds: ['redis-state-behind'], make: async (world) => put(world, { ...(await recordOf(world, 'r1')), state: 'S', orderId: null, appliedVersion: 0 }) },
  { kinds: ['held-in-pg-returned-in-redis'], make: async (world) => { await put(world, { ...(await recordOf(world, 'r1')), unitReturned: true }); await world.redis.incr(world.keys.stock); await world.redis.hdel(world.keys.users, '1'); } },
  { kinds: ['user-mark-missing'], make: (world) => world.redis.hdel(world.keys.users, '1') },
  { kinds: ['user-mark-orphan'], make: (world) => world.redis.hset(world.keys.users, '999', 'nobody') },
  { kinds: ['pending-entry-orphan'], make: (world) => world.redis.zadd(world.keys.pending, Date.now() + 60_000, 'nobody') },
  { kinds: ['stock-counter-off'], make: (world) => world.redis.decrby(world.keys.stock, 3) },
  { kinds: ['stock-counter-off'], make: (world) => world.redis.incrby(world.keys.stock, 3) },
];

test.each(WRONGS.map((wrong) => [wrong.kinds.join(' and '), wrong] as const))('%s: found, repaired once, and the state is what it was', async (_name, { kinds, make }) => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(4);
  expect((await world.reconcile(false)).found).toEqual([]);
  const before = await contents(world);
  await make(world);
  const looked = await world.reconcile(false);
  expect(looked.found.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
  const repaired = await world.reconcile(true);
  expect(repaired).toMatchObject({ applied: kinds.length, left: [] });
  expect(await contents(world)).toEqual(before);
  expect(await world.reconcile(true)).toEqual({ found: [], left: [], applied: 0 });
  expect(await contents(world)).toEqual(before);
  expect(await world.count('SELECT count(*)::int AS n FROM reconciliation_adjustment WHERE status = 10')).toBe(kinds.length);
  expect(await world.redis.hlen(world.keys.adjustments)).toBe(kinds.length);
});

/** A reservation that only Redis knows. */
async function onlyInRedis(world: ReconciliationCase, requestId: string, userId: string, change: Partial<StockRecord>): Promise<void> {
  const template = await recordOf(world, 'r1');
  await put(world, { ...template, requestId, userId, reservationId: randomUUID(), messageId: randomUUID(), state: 'P', orderId: null, appliedVersion: 0, ...change });
  await world.redis.hset(world.keys.users, userId, requestId);
  await world.redis.decr(world.keys.stock);
}

test('reserved and never sent, or ordered and unknown to PostgreSQL: the scanner gets it back, and it becomes an order', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(2);
  await onlyInRedis(world, 'lonely', '50', {});
  await onlyInRedis(world, 'bogus', '51', { state: 'O', orderId: '123', appliedVersion: 3 });
  const { found } = await world.reconcile(false);
  expect(found.map(({ kind, subject }) => `${kind} ${subject}`).sort()).toEqual(['redis-order-without-row bogus', 'redis-record-without-message lonely']);
  expect(await world.reconcile(true)).toMatchObject({ applied: 2, left: [] });
  await world.settled();
  expect(await world.count('SELECT count(*)::int AS n FROM orders')).toBe(4);
  expect((await world.reconcile(false)).found).toEqual([]);
  expect(await world.stockLeft()).toBe(6);
});

test('a message waits for its consumer and its record has left the index: put back, no unit moves', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.stop('consumer');
  await world.buy('r2', '2');
  await expect.poll(() => world.redis.hget(world.keys.requests, 'r2')).toMatch(/^S/);
  await world.redis.zrem(world.keys.pending, 'r2');
  await expect.poll(async () => (await world.reconcile(false)).found.map(({ kind }) => kind)).toEqual(['pending-entry-missing']);
  expect(await world.reconcile(true)).toMatchObject({ applied: 1, left: [] });
  expect(await world.stockLeft()).toBe(8);
  await world.start('consumer');
  await world.settled();
  expect((await world.reconcile(false)).found).toEqual([]);
});

/** A second reservation of a user who has an order: PostgreSQL refuses it. */
async function refusedSecond(world: ReconciliationCase): Promise<void> {
  await world.ordersFor(2);
  await world.redis.hdel(world.keys.users, '1');
  await world.buy('second', '1');
  await world.settled();
  await world.redis.hset(world.keys.users, '1', 'r1');
  expect(await recordOf(world, 'second')).toMatchObject({ state: 'R', unitReturned: true });
}

test('given back in PostgreSQL and still taken in Redis: given back once', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await refusedSecond(world);
  await put(world, { ...(await recordOf(world, 'second')), state: 'S', unitReturned: false, appliedVersion: 0, reason: null });
  await world.redis.decr(world.keys.stock);
  expect((await world.reconcile(false)).found.map(({ kind }) => kind)).toEqual(['released-in-pg-held-in-redis']);
  expect(await world.reconcile(true)).toMatchObject({ applied: 1, left: [] });
  expect(await recordOf(world, 'second')).toMatchObject({ state: 'R', unitReturned: true });
  expect(await world.stockLeft()).toBe(8);
  expect(await world.reconcile(true)).toMatchObject({ applied: 0 });
  expect(await world.stockLeft()).toBe(8);
});

test('the mark of a refused reservation is taken away, and its user is marked by the one that he has', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await refusedSecond(world);
  await world.redis.hset(world.keys.users, '1', 'second');
  expect((await world.reconcile(false)).found.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(['user-mark-left second']);
  await world.reconcile(true);
  await world.reconcile(true);
  expect(await world.redis.hget(world.keys.users, '1')).toBe('r1');
  expect((await world.reconcile(false)).found).toEqual([]);
  expect(await world.stockLeft()).toBe(8);
});

test('Redis has forgotten what has ended, and tells another reservation of a request', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await refusedSecond(world);
  await world.redis.hdel(world.keys.requests, 'second');
  const own = await recordOf(world, 'r2');
  await put(world, { ...own, reservationId: randomUUID(), messageId: randomUUID(), state: 'R', orderId: null, unitReturned: true });
  await world.redis.incr(world.keys.stock);
  const { found } = await world.reconcile(false);
  expect(found.map(({ kind }) => kind).sort()).toEqual(['ended-row-without-redis-record', 'redis-record-of-another-reservation']);
  expect(await world.reconcile(true)).toMatchObject({ applied: 2, left: [] });
  expect(await recordOf(world, 'r2')).toMatchObject({ reservationId: own.reservationId, state: 'O', unitReturned: false });
  expect(await recordOf(world, 'second')).toMatchObject({ state: 'R', unitReturned: true });
  expect(await world.stockLeft()).toBe(8);
});

test('a message that was consumed and left nothing is sent once more, and only once', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(2);
  await world.stop('consumer');
  await world.pg.query(`DELETE FROM order_items; DELETE FROM inventory_ledger; UPDATE inventory_token SET status = 0, reservation_id = NULL, order_id = NULL; DELETE FROM orders; DELETE FROM consumer_inbox; DELETE FROM inventory_reservation`);
  const { found } = await world.reconcile(false);
  expect(found.map(({ kind }) => kind).sort()).toEqual(['message-without-row', 'message-without-row', 'redis-order-without-row', 'redis-order-without-row']);
  // Sent again, it waits for the consumer; that is no difference.
  expect(await world.reconcile(true)).toMatchObject({ applied: 4, left: [] });
  await world.start('consumer');
  await world.settled();
  expect(await world.count('SELECT count(*)::int AS n FROM orders')).toBe(2);
  expect((await world.reconcile(false)).found).toEqual([]);
  expect(await world.stockLeft()).toBe(8);
});

test('what nothing can mend is told and left: a row without its message, stock in PostgreSQL that does not add up', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.pg.query(`INSERT INTO inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, inventory_bucket, status, failure_code, redis_reserved_at, expires_at, updated_at)
    VALUES ($1, 'ghost', $2, $3, $4, 77, 0, 20, 'REJECTED_EXPIRED', now() - interval '1 minute', now(), now() - interval '1 minute')`, [randomUUID(), randomUUID(), SKU.activityId, SKU.skuId]);
  await world.pg.query(`INSERT INTO inventory_token (activity_id, sku_id, unit_no) VALUES ($1, $2, 11)`, [SKU.activityId, SKU.skuId]);
  await expect.poll(async () => (await world.reconcile(false)).found.map(({ kind }) => kind).sort()).toEqual(['ended-row-without-redis-record', 'inventory-counter-off', 'row-without-message']);
  const repaired = await world.reconcile(true);
  expect(repaired.applied).toBe(1);
  expect(repaired.left.map(({ kind }) => kind).sort()).toEqual(['inventory-counter-off', 'row-without-message']);
});

test('a repair that a crash cut short is finished by the next reconciler, once, whichever half was done', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.redis.decrby(world.keys.stock, 2);
  const { found } = await world.reconcile(false);
  const token = await world.tools.store.lease(60_000);
  // Planned, and the process was gone.
  await world.tools.store.plan(SKU, 1, token ?? 0, found);
  await world.tools.store.freeLease();
  expect(await world.reconcile(true)).toEqual({ found: [], left: [], applied: 0 });
  expect(await world.stockLeft()).toBe(9);
  // Planned and made, and gone before it was settled.
  await world.pg.query(`UPDATE reconciliation_adjustment SET status = 0, settled_at = NULL`);
  expect(await world.reconcile(true)).toEqual({ found: [], left: [], applied: 0 });
  expect(await world.stockLeft()).toBe(9);
  expect(await world.count(`SELECT count(*)::int AS n FROM reconciliation_adjustment WHERE status = 10 AND outcome = 'already'`)).toBe(1);
});

test('a holder that lost its lease plans nothing, and a repair planned against what has moved since changes nothing', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.redis.hdel(world.keys.users, '1');
  const { found } = await world.reconcile(false);
  expect(await world.tools.store.plan(SKU, 1, 999, found)).toEqual([]);
  const token = (await world.tools.store.lease(60_000)) ?? 0;
  await world.tools.store.plan(SKU, 1, token, found);
  await world.redis.hset(world.keys.users, '1', 'r1');
  await world.tools.store.freeLease();
  await world.reconcile(true);
  expect(await world.count(`SELECT count(*)::int AS n FROM reconciliation_adjustment WHERE status = 20 AND outcome = 'changed'`)).toBe(1);
});

test('a lease that is shorter than the wait between two looks is renewed all the time, and the repair is made', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.redis.hdel(world.keys.users, '1');
  const other = createReconciliationStore(world.config('reconciler'), { log: () => undefined });
  let [waiting, taken] = [true, 0];
  // What is younger than the grace may be on its way.
  await delay(2_100);
  const trying = (async () => {
    // Once it leads there is something to take away.
    await expect.poll(() => world.count('SELECT count(*)::int AS n FROM reconciler_lease'), { interval: 5 }).toBe(1);
    while (waiting) {
      if (((await other.lease(1)) ?? 0) > 0) taken += 1;
      await delay(20);
    }
  })();
  // Both looks are over, and the repair begins.
  const reached = (): void => { waiting = false; };
  const once = await reconcileOnce({ ...world.tools, leaseMs: 800, surroundings: { ...world.tools.surroundings, observer: { reached } } }, SKU, { repair: true, graceMs: 2_000 });
  waiting = false;
  await trying;
  await other.close();
  expect(taken).toBe(0);
  expect(once).toMatchObject({ outcome: 'looked', result: { found: [{ kind: 'user-mark-missing' }], left: [], applied: 1 } });
});

test('a lease that another takes between look and repair is told, and nothing is repaired', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  await world.redis.hdel(world.keys.users, '1');
  const reached = async (): Promise<void> => {
    await world.pg.query(`UPDATE reconciler_lease SET holder = 'another', token = token + 1, expires_at = now() + interval '1 minute'`);
  };
  const surroundings = { ...world.tools.surroundings, observer: { reached } };
  expect(await reconcileOnce({ ...world.tools, surroundings }, SKU, { repair: true, graceMs: GRACE_MS })).toEqual({ outcome: 'lease-lost', applied: 0 });
  expect(await world.count('SELECT count(*)::int AS n FROM reconciliation_adjustment')).toBe(0);
});

test('under live traffic nothing is repaired that was only on its way', async () => {
  await using world = await ReconciliationCase.open({ stock: 400 });
  await world.start('reconciler');
  let user = 0;
  let returned = 0;
  const until = performance.now() + 6_000;
  while (performance.now() < until) {
    const buyers = Array.from({ length: 20 }, () => (user += 1));
    await Promise.all(buyers.map((number) => world.buy(`r${String(number)}`, String(number))));
    // Some who have an order buy a second time, where Redis has lost the mark: refused, and their units come back while records are read.
    const early = String(user - 99);
    if (user % 60 === 0 && ((await world.redis.hget(world.keys.requests, `r${early}`)) ?? '').startsWith('O')) {
      await world.redis.hdel(world.keys.users, early);
      await world.buy(`again${early}`, early);
      await world.redis.hset(world.keys.users, early, `r${early}`);
      returned += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  await world.settled();
  expect(returned).toBeGreaterThan(3);
  const looks = (await world.pg.query<{ seen: string; kind: string; outcome: string }>('SELECT kind, seen, outcome FROM reconciliation_adjustment')).rows;
  expect(looks).toEqual([]);
  expect(await world.stockLeft()).toBe(400 - (await world.count('SELECT count(*)::int AS n FROM orders')));
  await world.stop('reconciler');
  expect((await world.reconcile(false)).found).toEqual([]);
});
