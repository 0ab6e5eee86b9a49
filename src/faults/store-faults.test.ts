// The faults of database, Redis, disk and clock against fake targets: landed only when all that each predicts was seen, and undone whatever happened.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import type { LockWaiter } from '../facts/database-target.js';
import { FakeRole, fakeTargets } from './fake-targets.test-support.js';
import { begin, live } from './fault-in-hand.test-support.js';
import { parseFaultOption } from './registry.js';
import { PENDING_ALERT } from './stop-scanner.js';

const CONSUMER: LockWaiter = { application: 'consumer-1', processId: 7, holds: ['orders', 'consumer_inbox'] };

describe('row-lock', () => {
  test('lands when somebody waits, and lets go', async () => {
    const targets = fakeTargets([]);
    targets.fakeDatabase.waiting = [CONSUMER];
    const { proof, heal } = await live('row-lock@s=1', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 1 });
    expect(proof.observed).toContain('waited for by consumer-1');
    expect(heal.healed).toBe(true);
    expect(targets.fakeDatabase.held).toBe(0);
  });

  test('does not land when nobody waits, or there is no row', async () => {
    expect((await live('row-lock@s=1', fakeTargets([]))).proof.landed).toBe(false);
    const targets = fakeTargets([]);
    targets.fakeDatabase.lockable = 0;
    targets.fakeDatabase.waiting = [CONSUMER];
    expect((await live('row-lock@s=1,rows=orders', targets)).proof).toMatchObject({ landed: false });
    expect(targets.fakeDatabase.held).toBe(0);
  });

  test.each([[0, true], [3, false]])('of units for sale: %i orders made while messages come → landed %s', async (made, landed) => {
    const targets = fakeTargets([]);
    targets.fakeDatabase.ordersPerLook = made;
    expect((await live('row-lock@s=1,rows=tokens', targets)).proof.landed).toBe(landed);
  });
});

describe('deadlock', () => {
  test('lands when each circle was closed and counted, and puts the server back', async () => {
    const targets = fakeTargets([]);
    targets.fakeDatabase.waiting = [CONSUMER];
    const { proof, heal } = await live('deadlock@n=3,gap=10', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 3 });
    expect(heal.healed).toBe(true);
    expect(targets.fakeDatabase).toMatchObject({ held: 0, deadlockTimeoutMs: null });
  });

  test.each([
    ['nobody waits', { waiting: [] }],
    ['who waits has not written orders', { waiting: [{ ...CONSUMER, holds: ['event_outbox'] }] }],
    ['the second lock is not to be had', { waiting: [CONSUMER], takes: false }],
    ['it is the relay that waits', { waiting: [{ ...CONSUMER, application: 'relay-1' }] }],
  ])('does not land when %s', async (_, change) => {
    const targets = fakeTargets([]);
    Object.assign(targets.fakeDatabase, change);
    expect((await live('deadlock@n=1,gap=1', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    expect(targets.fakeDatabase).toMatchObject({ held: 0, deadlockTimeoutMs: null });
  });
});

test.each([[100, true], [99, false]])('autovacuum-starved: %i dead rows that may not go → landed %s', async (unremovableRows, landed) => {
  const targets = fakeTargets([]);
  targets.fakeDatabase.dead = { removedRows: 0, unremovableRows };
  const { proof, heal } = await live('autovacuum-starved@s=1,rows=100', targets);
  expect(proof.landed).toBe(landed);
  expect(heal.healed).toBe(true);
  expect(targets.fakeDatabase.held).toBe(0);
});

test.each([[false, true], [true, false]])('archive-failing: an archiver that is deaf %s → landed %s', async (deaf, landed) => {
  const targets = fakeTargets([]);
  targets.fakeDatabase.archiverDeaf = deaf;
  const { proof, heal } = await live('archive-failing@s=1', targets);
  expect(proof.landed).toBe(landed);
  expect(heal.healed).toBe(true);
  expect(targets.fakeDatabase.archives).toBe(true);
});

describe('disk-full', () => {
  test('of PostgreSQL lands when no byte is free and its log says so', async () => {
    const targets = fakeTargets([]);
    targets.logged = 'ERROR: could not extend file: No space left on device';
    const { proof, heal } = await live('disk-full@s=1', targets);
    expect(proof.landed).toBe(true);
    expect(heal.healed).toBe(true);
    expect(targets.disks.postgres).toMatchObject({ free: 1_000_000, prepared: false });
  });

  test.each([['the log says nothing', '', false], ['there is room', 'No space left on device', true]])('does not land when %s', async (_, logged, bottomless) => {
    const targets = fakeTargets([]);
    targets.logged = logged;
    targets.disks.postgres.bottomless = bottomless;
    expect((await live('disk-full@s=1', targets)).proof.landed).toBe(false);
  });

  test('of Kafka lands only when the broker ended by itself, and it is started again', async () => {
    const targets = fakeTargets([]);
    targets.logged = 'No space left on device';
    expect((await live('disk-full@s=1,server=kafka', targets)).proof.landed).toBe(false);
    targets.fakeServer('kafka').dead = true;
    const { proof, heal } = await live('disk-full@s=1,server=kafka', targets);
    expect(proof.landed).toBe(true);
    expect(heal.healed).toBe(true);
    expect(targets.fakeServer('kafka').dead).toBe(false);
  });

  test('asks for a small disk before the stack starts', () => {
    const needs = ['kafka', 'postgres'].map((server) => parseFaultOption(`disk-full@server=${server}`)).map((parsed) => (parsed.ok ? parsed.fault.needs : null));
    expect(needs).toEqual([['small-kafka-disk', 'server-files'], ['server-files']]);
  });
});

describe('clock-skew', () => {
  test.each([[60_000, 3, true], [60_000, 0, false], [0, 3, false]])('%i ms ahead, read %i times → landed %s', async (aheadMs, reads, landed) => {
    const role = new FakeRole('scanner-1');
    role.ownClock = { aheadMs, reads };
    const stop = new AbortController();
    const targets = fakeTargets([role]);
    const hand = begin('clock-skew@role=scanner,by=+60s', targets).hand;
    const injected = hand.inject(stop.signal);
    setTimeout(() => { stop.abort(); }, 20);
    await injected;
    expect((await hand.prove()).landed).toBe(landed);
  });

  test('nobody of that name runs: not landed', async () => {
    const hand = begin('clock-skew@role=closer,by=-1m', fakeTargets([])).hand;
    await hand.inject(AbortSignal.abort());
    expect(await hand.prove()).toMatchObject({ landed: false, observed: 'no process of closer runs' });
  });

  test('is aimed at one process or at all of a role', () => {
    const instances = ['gateway-1', 'gateway-2', 'scanner-1'] as const;
    const skews = ['gateway', 'gateway-2'].map((role) => parseFaultOption(`clock-skew@role=${role},by=-1.5s`)).map((parsed) => (parsed.ok ? parsed.fault.skews(instances) : null));
    expect(skews).toEqual([[{ instance: 'gateway-1', aheadMs: -1_500 }, { instance: 'gateway-2', aheadMs: -1_500 }], [{ instance: 'gateway-2', aheadMs: -1_500 }]]);
  });
});

describe('script-flush', () => {
  test.each([[1, true], [0, false]])('%i answers NOSCRIPT after each → landed %s', async (missed, landed) => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    fakeMemory.missesPerFlush = missed;
    expect((await live('script-flush@n=2,gap=1', targets)).proof).toMatchObject({ landed, strikes: landed ? 2 : 0 });
  });
});

describe('redis-tail-loss', () => {
  test('lands when what stood there before is gone, and says from when on', async () => {
    const targets = fakeTargets([]);
    // The fake primary makes a reservation with each question; cutting its tail takes them all.
    const { reservedOn } = targets.redis;
    let cut = false;
    targets.fakeMemory.cutTail = (bytes) => { cut = true; return Promise.resolve(bytes); };
    targets.redis.reservedOn = (server) => (cut ? Promise.resolve(new Map()) : reservedOn(server));
    const { proof, heal } = await live('redis-tail-loss@lose=5,s=2', targets);
    expect(proof).toMatchObject({ landed: true, mayLose: { store: 'redis' } });
    expect(heal.healed).toBe(true);
    expect(targets.fakeServer('redis-primary').dead).toBe(false);
  });

  test('does not land when nothing was lost; a plain restart does', async () => {
    expect((await live('redis-tail-loss@lose=5,s=2', fakeTargets([]))).proof).toMatchObject({ landed: false, mayLose: null });
    expect((await live('redis-down@mode=kill,s=2', fakeTargets([]))).proof).toMatchObject({ landed: true, mayLose: null });
  });

  test('a server that survives: not landed', async () => {
    const targets = fakeTargets([]);
    for (const name of ['redis-primary', 'postgres'] as const) targets.fakeServer(name).deaf = true;
    expect((await live('redis-down@mode=kill,s=2', targets)).proof.landed).toBe(false);
    expect((await live('pg-outage@mode=kill,s=2', targets)).proof.landed).toBe(false);
  });
});

describe('stop-scanner', () => {
  test.each([
    [6, 12, true],
    // Above the bound, and not for as long as the rule asks.
    [6, 9, false],
    [4, 12, false],
  ])('the oldest pending reservation is %i s old at the projector for %i s → landed %s', async (age, seconds, landed) => {
    const [scanner, projector] = [new FakeRole('scanner-1'), new FakeRole('projector-1')];
    projector.figures = { 'reservation_oldest_pending_age{sku_id="1"}': age };
    const { proof, heal } = await live(`stop-scanner@s=${String(seconds)}`, fakeTargets([scanner, projector]));
    expect(proof.landed).toBe(landed);
    expect(heal.healed).toBe(true);
    expect(scanner.paused).toBe(false);
  });

  test('an age that falls below the bound in between starts the wait again', async () => {
    const [scanner, projector] = [new FakeRole('scanner-1'), new FakeRole('projector-1')];
    let looks = 0;
    projector.metrics = () => Promise.resolve({ reservation_oldest_pending_age: (looks += 1) % 40 === 0 ? 1 : 6 });
    expect((await live('stop-scanner@s=25', fakeTargets([scanner, projector]))).proof.landed).toBe(false);
    expect(looks).toBeGreaterThan(100);
  });

  test('the alert is the one of the rules file', () => {
    const { alert, gauge, aboveS, forMs } = PENDING_ALERT;
    const rules = readFileSync(fileURLToPath(new URL('../../ops/alerts.yml', import.meta.url)), 'utf8');
    const rule = new RegExp(`alert: ${alert}\\n\\s+expr: (.+)\\n\\s+for: (.+)\\n`).exec(rules);
    expect(rule?.slice(1)).toEqual([`max by (activity_id, sku_id) (${gauge}) > ${String(aboveS)}`, `${String(forMs / 1_000)}s`]);
  });

  test('no scanner runs: not landed', async () => {
    expect((await live('stop-scanner@s=1', fakeTargets([]))).proof.landed).toBe(false);
  });
});

describe.each(['gateway-postgres', 'scanner-redis'] as const)('link-toxic on %s, of whose use no step tells', (name) => {
  test.each([[900, true], [0, false]])('%i B carried between the two ends of its connections → landed %s', async (bytes, landed) => {
    const targets = fakeTargets([]);
    const link = targets.fakeLink(name);
    let ends = 0;
    link.onChange = (change) => {
      if (change !== 'disabled') return;
      ends += 1;
      // What the first connections had carried before says nothing.
      link.move(ends === 1 ? 5_000 : bytes, ends === 1 ? 5_000 : bytes);
    };
    const { proof, heal } = await live(`link-toxic@link=${name},type=latency,latency=100,s=1`, targets);
    expect(proof.landed).toBe(landed);
    expect(heal.healed).toBe(true);
    expect(link).toMatchObject({ enabled: true, toxics: [] });
  });
});
