/** The reduced sweep on the real stack: all hold, a broken-off sweep goes on, and a wrong system turns it red. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { STEP_NAMES } from '../src/domain/steps.js';
import type { SweepHead, SweepRow } from '../src/facts/sweep.js';
import { freshFolder, lab, nothingLeftWithin, snapshot, startLab, type Finished, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

const reports = freshFolder('sweep');

function sweptBy(finished: Finished): { head: SweepHead; rows: readonly SweepRow[] } {
  return JSON.parse(finished.stdout) as { head: SweepHead; rows: readonly SweepRow[] };
}

it('a sample of the sweep holds, and every step of the protocol is reached', async () => {
  const finished = await lab('sweep', '--reduced', '--seed', '5', '--json', '--report-dir', reports);
  const { head, rows } = sweptBy(finished);
  expect(rows.filter(({ outcome }) => outcome !== 'green')).toEqual([]);
  expect(finished.code, finished.stderr).toBe(0);
  expect(head.unreached).toEqual([]);
  expect(new Set(head.counts.filter(({ hits }) => hits > 0).map(({ step }) => step))).toEqual(new Set(STEP_NAMES));
  expect(rows).toHaveLength(head.cases.length);
});

it('a sweep whose process was killed goes on where it was', async () => {
  const options = ['--steps', 'relay.after-*', '--actions', 'kill', '--lanes', '2'];
  const broken = startLab(['sweep', ...options, '--seed', '6', '--report-dir', reports]);
  await broken.says(/\[2\/\d+\]/);
  const directory = /report (\S+)/.exec(broken.stderr())?.[1] ?? '';
  broken.child.kill('SIGKILL');
  await broken.done;
  const kept = readFileSync(join(directory, 'rows.ndjson'), 'utf8').split('\n').filter((line) => line !== '').length;
  expect(kept).toBeGreaterThanOrEqual(2);
  const finished = await lab('sweep', '--resume', directory, '--json');
  expect(finished.code, finished.stderr).toBe(0);
  const { head, rows } = sweptBy(finished);
  expect(rows).toHaveLength(head.cases.length);
  expect(rows.length).toBeGreaterThan(2);
  // The first ones were not run again.
  expect(finished.stderr).not.toContain('[2/');
  rmSync(directory, { recursive: true });
});

it('a wrong system turns the sweep red', async () => {
  const finished = await lab('sweep', '--mutant', 'new-message-id-on-resend', '--steps', 'scanner.after-resend', '--actions', 'kill', '--hits', 'first', '--seed', '7', '--json', '--report-dir', reports);
  expect(finished.code, finished.stderr).toBe(1);
  expect(sweptBy(finished).rows).toMatchObject([{ outcome: 'violated' }]);
});
