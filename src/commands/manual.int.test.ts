// manual list and release against a running system: the decision is durable first, single however often it is taken, and seen by whoever waits for DRAINED.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Kafka, logLevel } from 'kafkajs';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';

import { openWork } from '../lab/drained.js';
import { directRedis } from '../lab/store-clients.js';
import { createReservationJudge } from '../system/ledger/reservation-judge.js';
import { openDeadLetterCase, type DeadLetterCase } from '../system/recovery/dead-letter-case.test-support.js';
import type { OrderMessage } from '../domain/order-message.js';
import type { CommandIo } from './command-io.js';
import { runManualList, runManualRelease } from './manual.js';

let folder: string;
let stackFile: string;
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-manual-'));
  stackFile = join(folder, 'stack.json');
  writeFileSync(stackFile, JSON.stringify(inject('stack')));
  out = '';
  err = '';
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 100 });

/** Reserves, and hands all but the first over to a human. */
async function handedOver(here: DeadLetterCase, count: number): Promise<readonly OrderMessage[]> {
  const made = await here.reserve(count + 1);
  const judge = createReservationJudge(here.fresh.config, here.fresh.surroundings());
  here.fresh.closeAtEnd(() => judge.close());
  for (const { activityId, skuId, ...reservation } of made.slice(1)) expect(await judge.handOver({ ...reservation, sku: { activityId, skuId } })).toBe('handed-over');
  return made.slice(1);
}

test('list tells who waits; release ends each once, gives its unit back, and refuses its late message', async () => {
  await using here = await openDeadLetterCase(5);
  const [first, second] = await handedOver(here, 2);
  if (first === undefined || second === undefined) throw new Error('two reservations');
  const namespace = here.fresh.config.namespace.id;
  expect(await runManualList({ stackFile, namespace }, io)).toBe(0);
  expect(out).toContain('2 reservations wait for a human');
  expect(out).toContain(`${first.reservationId}  RECOVERY_DEADLINE`);

  out = '';
  expect(await runManualRelease({ stackFile, namespace, id: [first.reservationId, first.reservationId] }, io)).toBe(0);
  expect(out).toContain('1 ended, 0 had ended before');
  out = '';
  expect(await runManualRelease({ stackFile, namespace, id: [first.reservationId] }, io)).toBe(0);
  expect(out).toContain('0 ended, 1 had ended before');
  // Durable, and Redis knows nothing of it yet.
  expect(await here.fresh.count('inventory_reservation', `status = 50 and failure_code = 'REJECTED_BY_HAND'`)).toBe(1);
  expect(await here.fresh.count('event_outbox', `tag = 'RESERVATION_RELEASED' and aggregate_id = '${first.reservationId}'`)).toBe(1);
  expect(await here.redisStock()).toBe(2);

  for (const role of ['relay', 'projector', 'consumer'] as const) await here.start(role);
  await until(async () => { expect(await here.redisStock()).toBe(3); });
  out = '';
  expect(await runManualRelease({ stackFile, namespace, all: true }, io)).toBe(0);
  expect(out).toContain('1 ended, 0 had ended before');
  await until(async () => { expect(await here.redisStock()).toBe(4); });
  await here.produce([first, second]);
  await until(async () => { expect(await here.fresh.count('consumer_inbox', `result_code = 'ALREADY_CLOSED'`)).toBe(2); });
  expect([await here.fresh.count('orders'), await here.fresh.held(), await here.redisStock()]).toEqual([0, 0, 4]);
  out = '';
  expect(await runManualList({ stackFile, namespace, json: true }, io)).toBe(0);
  expect(JSON.parse(out)).toEqual({ manualRequired: [] });
});

test('two operators at once end a reservation once', async () => {
  await using here = await openDeadLetterCase(5);
  const waiting = await handedOver(here, 4);
  const namespace = here.fresh.config.namespace.id;
  expect(await Promise.all([1, 2, 3].map(() => runManualRelease({ stackFile, namespace, all: true }, io)))).toEqual([0, 0, 0]);
  expect(await here.fresh.count('inventory_reservation', 'status = 50')).toBe(waiting.length);
  expect(await here.fresh.count('event_outbox')).toBe(waiting.length);
});

test('what does not wait is left alone, and said so', async () => {
  await using here = await openDeadLetterCase(5);
  const [message] = await here.reserve(1);
  if (message === undefined) throw new Error('one reservation');
  await here.start('consumer');
  await here.produce([message]);
  await until(async () => { expect(await here.fresh.count('orders')).toBe(1); });
  const namespace = here.fresh.config.namespace.id;
  expect(await runManualRelease({ stackFile, namespace, id: [message.reservationId] }, io)).toBe(2);
  expect(out).toContain('does not wait for a human: left alone');
  expect(await here.fresh.count('orders', 'status = 10')).toBe(1);
  expect(await runManualRelease({ stackFile, namespace, id: ['ffffffff-0000-7000-8000-000000000001'] }, io)).toBe(254);
  expect(await runManualRelease({ stackFile, namespace, id: ['no-id'] }, io)).toBe(254);
  expect(await runManualRelease({ stackFile, namespace }, io)).toBe(254);
  expect(err).toContain('--id no-id: is no reservation id');
});

test('a run is not drained while a reservation waits for a human', async () => {
  await using here = await openDeadLetterCase(5);
  await handedOver(here, 1);
  const { config, client } = here.fresh;
  const { host, port } = config.addresses.kafka;
  const admin = new Kafka({ clientId: 'test', brokers: [`${host}:${String(port)}`], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const redis = directRedis(config.addresses.redis);
  try {
    const look = (): Promise<string[]> => openWork({ redis, admin, postgres: client, namespace: config.namespace, sku: { activityId: config.activityId, skuId: config.skuIds[0] ?? '' }, roles: new Set(), ordersEnd: false });
    expect(await look()).toContain('1 reservations wait for a human (MANUAL_REQUIRED)');
    expect(await runManualRelease({ stackFile, namespace: config.namespace.id, all: true }, io)).toBe(0);
    expect((await look()).join()).not.toContain('MANUAL_REQUIRED');
  } finally {
    redis.disconnect();
    await admin.disconnect();
  }
});
