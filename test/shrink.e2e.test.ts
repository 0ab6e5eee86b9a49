/**
 * Three mutants, each planted in a run that is larger than it has to be and has faults that have nothing to do with it, shrink to the least that is declared here, on
 * real servers; and what is written down fails again when it is run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { parsePlan } from '../src/lab/plan-file.js';
import { freshFolder, lab, nothingLeftWithin, snapshot, verdictOf, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

interface Planted {
  readonly mutant: string;
  readonly caughtBy: string;
  /** The run it is planted in, and what is added to it for nothing. */
  readonly run: readonly string[];
  /** All faults that are needed. */
  readonly faults: readonly string[];
  /** Units without which it cannot show. */
  readonly stockAtMost: number;
}

const FOR_NOTHING = ['--fault', 'link-toxic@link=relay-kafka,type=latency,latency=30,t=200ms,s=1', '--fault', 'kill-role@step=projector.after-apply,hit=2', '--rate', '150', '--duration', '2s'];

const PLANTED: readonly Planted[] = [
  // Every message is one too many without its Inbox row.
  { mutant: 'inbox-off', caughtBy: 'inbox-once', run: ['plain-sale', '--gateways', '2', ...FOR_NOTHING], faults: [], stockAtMost: 1 },
  // One gateway that dies once, at its eighth reservation.
  { mutant: 'new-message-id-on-resend', caughtBy: 'stable-message-id', run: ['gateway-dies', ...FOR_NOTHING], faults: ['kill-role@step=gateway.after-reserve,every=8,times=1'], stockAtMost: 15 },
  // One relay that dies once, with what it claimed second.
  { mutant: 'sent-before-sending', caughtBy: 'outbox-complete', run: ['relay-dies', ...FOR_NOTHING], faults: ['kill-role@step=relay.after-claim,hit=2,every=2,times=1'], stockAtMost: 15 },
];

it.each(PLANTED)('$mutant shrinks to what it needs', async ({ mutant, caughtBy, run, faults, stockAtMost }) => {
  const reports = freshFolder('shrink');
  const planted = verdictOf(await lab('run', ...run, '--mutant', mutant, '--seed', '21', '--json', '--report-dir', reports));
  expect(planted.invariants.filter(({ outcome }) => outcome === 'violated').map(({ name }) => name)).toContain(caughtBy);

  const out = join(reports, 'least.yaml');
  const shrunk = await lab('shrink', planted.run.directory, '--out', out);
  expect(shrunk.code, `${shrunk.stdout}\n${shrunk.stderr}`).toBe(0);
  const least = parsePlan(readFileSync(out, 'utf8'), out);
  expect(least).toMatchObject({ mutant, faults, options: { gateways: 1, rate: 20, duration: '1000ms' } });
  expect(least.options?.['stock']).toBeLessThanOrEqual(stockAtMost);

  const again = verdictOf(await lab('run', '--plan', out, '--json', '--report-dir', reports));
  expect([again.exitCode, again.invariants.filter(({ outcome }) => outcome === 'violated').map(({ name }) => name)]).toEqual([1, expect.arrayContaining([caughtBy])]);
}, 600_000);
