/** Nothing is left behind, wherever a run is ended: Ctrl-C in every stage, SIGKILL of the lab in every stage, two labs at once. */
import { afterEach, beforeEach, expect, it } from 'vitest';

import { freshFolder, lab, nothingLeftWithin, snapshot, startLab, verdictOf, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 15_000)).toEqual([]);
});

const reports = freshFolder('leftovers');
const STAGES = ['stack', 'system', 'probe', 'storm', 'settle', 'harvest'] as const;
const SMALL = ['run', 'hot-sku', '--rate', '200', '--duration', '2s', '--stock', '100', '--report-dir', reports];

it.each(STAGES)('SIGKILL of the lab in stage %s', async (stage) => {
  const run = startLab(SMALL);
  await run.says(new RegExp(`\\b${stage} …`));
  run.child.kill('SIGKILL');
  await run.done;
});

it.each(STAGES)('Ctrl-C in stage %s exits 105', async (stage) => {
  const run = startLab(SMALL);
  await run.says(new RegExp(`\\b${stage} …`));
  run.child.kill('SIGINT');
  const { code, stderr } = await run.done;
  expect(code).toBe(105);
  expect(stderr).toMatch(/aborted (by the user|while the stack was starting)/);
});

it('Ctrl-C while a fault is in heals and exits 105', async () => {
  const run = startLab(['run', 'hot-sku', '--rate', '200', '--duration', '20s', '--fault', 'pg-outage@t=1s,s=15,mode=freeze', '--report-dir', reports]);
  await run.says(/pg-outage#1 armed/);
  run.child.kill('SIGINT');
  const { code, stderr } = await run.done;
  expect(code).toBe(105);
  expect(stderr).toMatch(/pg-outage#1 healed/);
});

it('two labs at once do not disturb each other', async () => {
  const args = ['run', 'stock-of-one', '--rate', '100', '--duration', '5s', '--stock', '50', '--json', '--report-dir', reports];
  const both = await Promise.all([lab(...args, '--seed', '1'), lab(...args, '--seed', '2')]);
  for (const finished of both) {
    expect(verdictOf(finished).invariants.filter((judge) => judge.outcome === 'violated' || judge.outcome === 'unknown')).toEqual([]);
    expect([0, 3, 99]).toContain(finished.code);
    expect(verdictOf(finished).figures.orders).toBe(50);
  }
});
