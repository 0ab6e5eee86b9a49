/** The scenarios on the real stack, as a user runs them: exit code, verdict, files, and nothing left. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { RunVerdict } from '../src/facts/verdict.js';
import { freshFolder, lab, nothingLeftWithin, snapshot, verdictOf, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

const reports = freshFolder('runs');

/**
 * Everything holds and every fault is proven. A service level that a slow machine misses (99) is no matter of a test: speed lives in `npm run bench`. Void and
 * unknown are, so the loads here leave room for a machine at half its speed.
 */
async function green(...args: string[]): Promise<RunVerdict> {
  const finished = await lab('run', ...args, '--json', '--report-dir', reports);
  const verdict = verdictOf(finished);
  expect({ holds: finished.code === 0 || finished.code === 99, headline: verdict.headline }).toMatchObject({ holds: true });
  return verdict;
}

it('hot-sku sells exactly the stock; check says the same again, and notices a deleted order', async () => {
  const verdict = await green('hot-sku', '--rate', '500');
  expect(verdict.figures).toMatchObject({ stock: 1_000, orders: 1_000, accepted: 1_000 });
  expect(verdict.invariants).toHaveLength(17);
  expect(verdict.invariants.every((judge) => judge.outcome === 'holds' && judge.checked > 0)).toBe(true);
  const { directory } = verdict.run;
  for (const file of ['manifest.json', 'history.bin', 'history.ndjson', 'verdict.json', 'junit.xml', 'summary.md', 'events.ndjson', 'facts', 'logs']) {
    expect(existsSync(join(directory, file)), file).toBe(true);
  }
  const again = await lab('check', directory, '--json');
  expect([0, 99]).toContain(again.code);
  expect(verdictOf(again).invariants).toEqual(verdict.invariants);
  const corrupted = await lab('check', directory, '--corrupt', '1', '--json');
  expect({ code: corrupted.code, problems: /[0-9]+ judged wrongly/.exec(corrupted.stderr)?.[0] }).toEqual({ code: again.code, problems: '0 judged wrongly' });

  const orders = join(directory, 'facts', 'postgres-orders.ndjson');
  const [deleted = '', ...kept] = readFileSync(orders, 'utf8').split('\n');
  writeFileSync(orders, kept.join('\n'));
  const { reservationId } = JSON.parse(deleted) as { reservationId: string };
  const tampered = await lab('check', directory, '--json');
  expect(tampered.code).toBe(1);
  const lost = verdictOf(tampered).invariants.find((judge) => judge.name === 'no-lost-reservation');
  expect(lost).toMatchObject({ outcome: 'violated', violations: 1, worst: { kind: 'reservation', id: reservationId } });
  const story = await lab('explain', directory, reservationId);
  expect(story.code).toBe(0);
  for (const source of ['client', 'redis', 'kafka', 'postgres', 'commit-log']) expect(story.stdout).toContain(` ${source} `);
});

it('hot-sku holds with the other allocator, the single consumer, and two of each', async () => {
  const verdict = await green('hot-sku', '--allocator', 'row', '--consumer', 'single', '--gateways', '2', '--consumers', '2', '--rate', '120', '--duration', '5s', '--stock', '300');
  expect(verdict.figures.orders).toBe(300);
});

it('hot-sku holds over the inproc transport', async () => {
  const verdict = await green('hot-sku', '--transport', 'inproc', '--rate', '2000', '--duration', '5s');
  expect(verdict.figures.orders).toBe(1_000);
});

it('kill-after-lua: fifty kills right after the Lua call lose nothing', async () => {
  const verdict = await green('kill-after-lua', '--duration', '110s');
  expect(verdict.faults).toMatchObject([{ name: 'kill-role', proof: 'landed', strikes: 50, strikesAsked: 50, healed: true }]);
  expect(verdict.figures.recoveryMs).not.toBeNull();
});

it('drop-broker-ack: the topic holds duplicates and the orders do not', async () => {
  const verdict = await green('drop-broker-ack', '--duration', '90s');
  expect(verdict.faults).toMatchObject([
    { name: 'lose-produce-ack', proof: 'landed', strikes: 20, strikesAsked: 20, healed: true },
    { name: 'link-toxic', proof: 'landed', healed: true },
  ]);
  expect(verdict.figures.topicDuplicates).toBeGreaterThan(0);
  expect(verdict.figures.recoveryMs).not.toBeNull();
});

it('pg-outage: thirty seconds without PostgreSQL', async () => {
  const verdict = await green('pg-outage');
  expect(verdict.faults).toMatchObject([{ name: 'pg-outage', proof: 'landed', healed: true }]);
  expect(verdict.figures.recoveryMs).not.toBeNull();
});

it('pg-outage with the server frozen instead of cut off', async () => {
  const verdict = await green('stock-of-one', '--stock', '500', '--rate', '200', '--duration', '10s', '--fault', 'pg-outage@t=2s,s=4,mode=freeze');
  expect(verdict.faults).toMatchObject([{ name: 'pg-outage', proof: 'landed', healed: true }]);
});

it('redis-down: fails closed and sells on', async () => {
  const verdict = await green('redis-down');
  expect(verdict.faults).toMatchObject([{ name: 'redis-down', proof: 'landed', healed: true }]);
  expect(Object.keys(verdict.figures.refusedByCode)).toContain('UNAVAILABLE');
});

it('stock-of-one: ten thousand users, one order', async () => {
  expect((await green('stock-of-one')).figures).toMatchObject({ orders: 1, offered: 10_000 });
});

it('one-user-storm: ten thousand requests of one user, one order', async () => {
  expect((await green('one-user-storm')).figures).toMatchObject({ orders: 1, offered: 10_000 });
});
