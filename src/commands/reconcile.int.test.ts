// reconcile against a running system, as the command line calls it: exit codes, kinds with their ids, repairs by the leader alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, inject, test } from 'vitest';

import { ReconciliationCase } from '../system/recovery/reconciliation-case.test-support.js';
import type { CommandIo } from './command-io.js';
import { runReconcile } from './reconcile.js';

let folder: string;
let stackFile: string;
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-reconcile-'));
  stackFile = join(folder, 'stack.json');
  writeFileSync(stackFile, JSON.stringify(inject('stack')));
  out = '';
  err = '';
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('0 without differences, 1 with them and their ids, 0 again after --repair', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(3);
  const options = { stackFile, namespace: world.namespace.id, graceMs: '300' };
  expect(await runReconcile(options, io)).toBe(0);
  expect(out).toContain('no differences');

  await world.redis.hdel(world.keys.users, '2');
  await world.redis.incrby(world.keys.stock, 2);
  out = '';
  expect(await runReconcile(options, io)).toBe(1);
  expect(out).toContain('user-mark-missing 1');
  expect(out).toContain('r2: mark none');
  expect(out).toContain('stock: 2 units too many');

  out = '';
  expect(await runReconcile({ ...options, repair: true }, io)).toBe(0);
  expect(out).toContain('2 differences, 2 repairs made, 0 left');
  out = '';
  expect(await runReconcile({ ...options, json: true }, io)).toBe(0);
  expect(JSON.parse(out)).toMatchObject([{ activityId: '7', skuId: '70', found: [], left: [], applied: 0 }]);
});

test('2 when it cannot look: another leads, Redis is a stranger; 254 for what makes no sense', async () => {
  await using world = await ReconciliationCase.open({ stock: 10 });
  await world.ordersFor(1);
  const options = { stackFile, namespace: world.namespace.id, graceMs: '300' };
  await world.tools.store.lease(60_000);
  expect(await runReconcile({ ...options, repair: true }, io)).toBe(2);
  expect(err).toContain('makes the repairs itself');
  await world.tools.store.freeLease();
  await world.redis.hset(world.keys.meta, 'runId', '0'.repeat(40));
  expect(await runReconcile(options, io)).toBe(2);
  expect(err).toContain('other-server');
  expect(await runReconcile({ ...options, graceMs: 'soon' }, io)).toBe(254);
  expect(await runReconcile({ ...options, namespace: 'nowhere' }, io)).toBe(254);
});
