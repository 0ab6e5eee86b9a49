/**
 * The edge transport against real gateways: what the generator reads in place is what the gateway writes, in both forms; and a gateway that dies in the middle of
 * batches, which hold many customers' requests each, loses nothing and tells nobody a lie.
 */
import { writeFileSync } from 'node:fs';
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

const reports = freshFolder('edge');

/** Everything holds; how fast is no matter of a test. */
async function green(...args: string[]): Promise<RunVerdict> {
  const finished = await lab('run', ...args, '--json', '--report-dir', reports);
  const verdict = verdictOf(finished);
  expect(finished.code === 0 || finished.code === 99, verdict.headline).toBe(true);
  return verdict;
}

it('hot-sku holds over an edge: every kind of request in batches', async () => {
  const verdict = await green('hot-sku', '--transport', 'edge', '--rate', '2000', '--duration', '3s');
  expect(verdict.figures).toMatchObject({ transport: 'edge', stock: 1_000, orders: 1_000, accepted: 1_000 });
  expect(Object.keys(verdict.figures.refusedByCode)).toEqual(expect.arrayContaining(['INVALID', 'IDEMPOTENCY_CONFLICT', 'USER_HAS_ONE']));
});

/**
 * Before and after the reserve call, which decides a batch; after the hand-off and before the answer, which are of one request in a batch. Each with how often a
 * process that lives on comes there before it dies: a gateway sees some hundred batches and a thousand requests a second, and what is reached first ends the life
 * that counts. Asked for after as many batches as requests, the two points of a batch wait for the others to be done, and for eight seconds' batches to be small. At
 * 2,000 arrivals a second each gateway has one at a beat of the clock, and a warm one reserves them one by one.
 */
const CRASH_POINTS = [['gateway.before-reserve', 20], ['gateway.after-reserve', 20], ['gateway.after-send', 200], ['gateway.before-reply', 200]] as const;

it.each(['json', 'binary'])('each of two gateways dies at every point of a batch, written in %s: nothing is lost', async (form) => {
  const plan = join(reports, `crash-${form}.yaml`);
  writeFileSync(plan, JSON.stringify({
    schemaVersion: 1, scenario: 'kill-after-lua', options: { transport: 'edge', edgeForm: form, rate: 4_000, duration: '8s' },
    faults: CRASH_POINTS.map(([step, hit]) => `kill-role@step=${step},hit=${hit},every=${hit},times=2`),
  }));
  const verdict = await green('--plan', plan);
  expect(verdict.faults.map(({ name, proof, strikes, healed }) => ({ name, proof, strikes, healed }))).toEqual(CRASH_POINTS.map(() => ({ name: 'kill-role', proof: 'landed', strikes: 2, healed: true })));
  expect(verdict.figures.transport).toBe('edge');
  // Of a batch, and not of one request that came alone.
  const struck = verdict.faults.flatMap(({ hits }) => hits).filter(({ step }) => step === 'gateway.after-reserve');
  expect(Math.max(...struck.map(({ ids }) => ids.length))).toBeGreaterThan(1);
});
