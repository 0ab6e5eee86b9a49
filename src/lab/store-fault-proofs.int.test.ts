// Faults of database and Redis memory against real servers: each lands where the system meets it, and none claims to have landed where nobody does.
import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { ServerName } from '../facts/stack-description.js';
import type { RedisMemory, RoleTarget, ServerTarget } from '../facts/targets.js';
import { parseFaultOption } from '../faults/registry.js';
import { migrate } from '../system/ledger/migrate.js';
import { seedActivity } from '../system/ledger/seed.js';
import { createPool } from '../system/ledger/pool.js';
import { ensureTopics } from '../system/order-log/topics.js';
import { createRoleMetrics } from '../system/role-metrics.js';
import { stockKeys } from '../system/stock/keys.js';
import { hostFaultClock, numberFaults, startFaultSchedule } from './fault-schedule.js';
import { parseMetrics } from './roles/role-http.js';
import { runTargets } from './run-targets.js';

const stack = inject('stack');
const SKU = { activityId: '10001', skuId: '20001' };
const STOCK = 50;

let undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

function unused(): never {
  throw new Error('not in these tests');
}

/** No fault of these tests stops a server. */
function running(name: ServerName): ServerTarget {
  return { name, freeze: unused, thaw: unused, isFrozen: () => Promise.resolve(false), kill: unused, start: unused, isRunning: () => Promise.resolve(true), expectEnd: unused, unplug: unused, plugIn: unused, isUnplugged: () => Promise.resolve(false) };
}

/** A database with stock, and targets on it; nobody runs but these. */
async function fresh(roles: readonly RoleTarget[] = []): Promise<{ readonly database: string; readonly keys: ReturnType<typeof stockKeys>; readonly memory: RedisMemory; run(option: string): Promise<FaultRecord> }> {
  const namespace = namespaceOf(`f${randomBytes(5).toString('hex')}`);
  await asked('postgres', (client) => client.query(`CREATE DATABASE ${namespace.database}`));
  undo.push(() => asked('postgres', (client) => client.query(`DROP DATABASE ${namespace.database} WITH (FORCE)`)));
  await asked(namespace.database, async (client) => {
    await migrate(client);
    await seedActivity(client, { ...SKU, version: '1', startAtMs: Date.now(), endAtMs: Date.now() + 600_000, stock: STOCK, unitPrice: '1', currency: 'CNY', rules: {}, bucketCount: 1 });
  });
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 1 });
  const targets = runTargets({
    stack: { description: stack, server: running, link: unused, setRedisPrimary: () => undefined },
    lane: 0, supervisor: { roles: () => roles }, namespace, sku: SKU,
  });
  undo.push(() => targets.close());
  return {
    database: namespace.database,
    keys: stockKeys(namespace.redisPrefix, SKU),
    memory: targets.redisMemory,
    async run(option) {
      const parsed = parseFaultOption(option);
      if (!parsed.ok) throw new Error(parsed.problems.join());
      const started = startFaultSchedule(numberFaults([parsed.fault]), targets, { stormStartUs: hostFaultClock.monoUs(), emit: () => undefined, clock: hostFaultClock });
      await started.done;
      const [record] = await started.healAll();
      if (record === undefined) throw new Error('no record');
      return record;
    },
  };
}

async function asked<T>(database: string, work: (client: pg.Client) => Promise<T>, application = 'consumer-1'): Promise<T> {
  const client = new pg.Client({ ...stack.direct.postgres, database, application_name: application });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Does `work` again and again until the fault is over. */
async function meanwhile<T>(fault: Promise<T>, work: () => Promise<unknown>): Promise<T> {
  const goesOn = { is: true };
  const loop = (async () => {
    while (goesOn.is) {
      await work().catch(() => undefined);
      await hostFaultClock.wait(5);
    }
  })();
  try {
    return await fault;
  } finally {
    goesOn.is = false;
    await loop;
  }
}

describe('row-lock', () => {
  test('lands when a session of the system waits, not when nobody comes', async () => {
    const { database, run } = await fresh();
    const sell = () => asked(database, (client) => client.query("SET lock_timeout = '300ms'; UPDATE sku_inventory SET version = version + 1"));
    expect(await meanwhile(run('row-lock@s=1'), sell)).toMatchObject({ proof: 'landed', healed: true, strikes: 1 });
    expect(await run('row-lock@s=500ms')).toMatchObject({ proof: 'not-landed', healed: true, strikes: 0 });
    // Nothing is held any more.
    await sell();
  });

  test('on units for sale needs messages that come in meanwhile', async () => {
    const { run } = await fresh();
    const record = await run('row-lock@s=500ms,rows=tokens');
    expect(record).toMatchObject({ proof: 'not-landed', healed: true });
    expect(record.observed).toContain(`${String(STOCK)} rows locked`);
  });
});

describe('deadlock', () => {
  test('ends a transaction that writes orders before the Outbox', async () => {
    const { database, run } = await fresh();
    const victims: unknown[] = [];
    const order = () =>
      asked(database, async (client) => {
        await client.query('BEGIN; LOCK TABLE orders IN ROW EXCLUSIVE MODE; SELECT pg_sleep(0.02)');
        await client.query('LOCK TABLE event_outbox IN ROW EXCLUSIVE MODE').catch((error: unknown) => {
          victims.push((error as { code?: unknown }).code);
        });
        await client.query('ROLLBACK');
      });
    expect(await meanwhile(run('deadlock@n=2,gap=50'), order)).toMatchObject({ proof: 'landed', healed: true, strikes: 2 });
    expect(victims).toContain('40P01');
    expect(await asked(database, async (client) => (await client.query<{ deadlock_timeout: string }>('SHOW deadlock_timeout')).rows)).toEqual([{ deadlock_timeout: '1s' }]);
  });
});

test('autovacuum-starved: dead rows pile up under the snapshot and are removed after it; where nothing dies it does not land', async () => {
  const { database, run } = await fresh();
  const touch = () => asked(database, (client) => client.query('UPDATE inventory_token SET version = version + 1'));
  expect(await meanwhile(run('autovacuum-starved@s=800ms,rows=60'), touch)).toMatchObject({ proof: 'landed', healed: true });
  expect(await run('autovacuum-starved@s=200ms,rows=60')).toMatchObject({ proof: 'not-landed', healed: true });
});

test('archive-failing: failures are counted, a segment waits, and is archived afterwards', async () => {
  const { run } = await fresh();
  expect(await run('archive-failing@s=2')).toMatchObject({ proof: 'landed', healed: true });
});

test('pool-exhausted: the server refuses, the role has lost its session and gets one again', async () => {
  const { database, run } = await fresh();
  // Sessions that come and go: one may be on its way in, with a place and not yet shown, or on its way out, at any moment.
  const ask = () => Promise.all(Array.from({ length: 8 }, (_, index) => asked(database, (client) => client.query(`SELECT pg_sleep(${String(index / 100)})`)).catch(() => undefined)));
  expect(await meanwhile(run('pool-exhausted@s=1'), ask)).toMatchObject({ proof: 'landed', healed: true });
});

test.each([
  [6, 'landed'],
  // One of two connections stuck, and nobody waits for the other.
  [1, 'not-landed'],
] as const)('pool-exhausted of a role: %i pieces of work at once on two connections → %s', async (atOnce, proof) => {
  const metrics = createRoleMetrics('payment', 'payment-1');
  const role = { instance: 'payment-1', metrics: async () => parseMetrics(await metrics.text()) } as unknown as RoleTarget;
  const { database, run } = await fresh([role]);
  const pool = createPool({ address: stack.direct.postgres, database, applicationName: 'payment-1', max: 2 }, { log: () => undefined, metrics });
  undo.push(() => pool.end());
  await Promise.all([pool.query('SELECT pg_sleep(0.1)'), pool.query('SELECT pg_sleep(0.1)')]);
  const work = () => Promise.all(Array.from({ length: atOnce }, () => pool.query('SELECT count(*) FROM orders').catch(() => undefined)));
  const record = await meanwhile(run('pool-exhausted@mode=role,s=2'), work);
  expect(record).toMatchObject({ proof, healed: true });
  expect(record.observed).toMatch(atOnce > 1 ? /in one look 2 of 2 connections of payment-1 stuck behind a lock, and [1-4] pieces/ : /in one look 1 of [12] connections of payment-1 stuck behind a lock, and 0 pieces/);
});

test.skipIf(process.getuid?.() !== 0)('disk-full: a write that needs a page is refused for want of space, and goes through afterwards', async () => {
  const { database, run } = await fresh();
  const write = () => asked(database, (client) => client.query("INSERT INTO consumer_inbox (consumer_group, message_id, topic, message_key, reservation_id, result_code) SELECT 'g', gen_random_uuid(), 't', 'k', gen_random_uuid(), 'X' FROM generate_series(1, 500)"));
  expect(await meanwhile(run('disk-full@s=1'), write)).toMatchObject({ proof: 'landed', healed: true });
  await write();
});

describe('script-flush', () => {
  test('lands where scripts are used, and only there', async () => {
    const { run } = await fresh();
    const redis = new Redis({ ...stack.direct.redisPrimary });
    redis.defineCommand('labTest', { lua: "return 'OK'", numberOfKeys: 0 });
    const call = (redis as unknown as { labTest(): Promise<string> }).labTest.bind(redis);
    undo.push(() => {
      redis.disconnect();
      return Promise.resolve();
    });
    expect(await meanwhile(run('script-flush@n=2,gap=50'), call)).toMatchObject({ proof: 'landed', healed: true, strikes: 2 });
    expect(await run('script-flush@n=1,gap=1')).toMatchObject({ proof: 'not-landed', strikes: 0 });
  });
});

describe('redis-eviction', () => {
  test('lands when a key of the run is gone, and leaves policy and memory as they were', async () => {
    const { keys, run } = await fresh();
    const redis = new Redis({ ...stack.direct.redisPrimary });
    undo.push(() => {
      redis.disconnect();
      return Promise.resolve();
    });
    await redis.mset(keys.stock, '5', keys.meta, 'm');
    const record = await run('redis-eviction');
    expect(record.observed).toMatch(/of the run: .*(stock|meta)/);
    expect(record).toMatchObject({ proof: 'landed', healed: true, mayLose: null });
    expect(await redis.config('GET', 'maxmemory*')).toEqual(expect.arrayContaining(['maxmemory', '0', 'maxmemory-policy', 'noeviction']));
    expect(await redis.keys(`${keys.stock.split(':')[0] ?? ''}:lab-filler*`)).toEqual([]);
    await redis.del(keys.stock, keys.meta);
  });

  test('an index that was emptied is told from one whose records have their result', async () => {
    const { keys, memory } = await fresh();
    const redis = new Redis({ ...stack.direct.redisPrimary });
    undo.push(async () => {
      await redis.del(keys.requests, keys.users);
      redis.disconnect();
    });
    const record = (state: string, reservedAtMs: number): string => `${state}|1|00000000|r-1|m-1|1|1|${String(reservedAtMs)}|0|0|0||`;
    await redis.hset(keys.requests, { 'a-1': record('P', 5), 'a-2': record('S', 6), 'a-3': record('O', 7) });
    await redis.hset(keys.users, '1', 'a-1');
    await redis.zadd(keys.pending, 7, 'a-1', 7, 'a-2');
    expect(await memory.books()).toEqual({ stock: false, meta: false, records: 3, marks: 1, waiting: 2, marksDue: 3, waitingMissing: 0, unsentAtMs: [5] });
    await redis.del(keys.pending);
    expect(await memory.books()).toMatchObject({ waiting: 0, waitingMissing: 2 });
    await redis.hset(keys.requests, { 'a-1': record('O', 5), 'a-2': record('R', 6) });
    expect(await memory.books()).toMatchObject({ waiting: 0, waitingMissing: 0, marksDue: 2, unsentAtMs: [] });
  });
});
