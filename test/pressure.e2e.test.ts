/** The scenarios of a system under pressure on the real stack, shortened: exit code 0, faults proven, figures that show that it came to what the story tells. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { decodeTellings } from '../src/facts/history-file.js';
import type { PayerTelling } from '../src/facts/history.js';
import type { RunVerdict } from '../src/facts/verdict.js';
import { freshFolder, lab, nothingLeftWithin, snapshot, verdictOf, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

const reports = freshFolder('pressure');

async function green(...args: string[]): Promise<RunVerdict> {
  const finished = await lab('run', ...args, '--seed', '11', '--json', '--report-dir', reports);
  const verdict = verdictOf(finished);
  expect({ code: finished.code, headline: verdict.headline }).toMatchObject({ code: 0 });
  for (const fault of verdict.faults) expect(fault).toMatchObject({ proof: 'landed', healed: true });
  return verdict;
}

function payerTellings(verdict: RunVerdict): readonly PayerTelling[] {
  return decodeTellings(readFileSync(join(verdict.run.directory, 'history.ndjson'), 'utf8')).payerTellings;
}

function codesOf(verdict: RunVerdict): ReadonlySet<string | null> {
  return new Set(payerTellings(verdict).map(({ code }) => code));
}

it('pay-vs-close: money that comes in time is kept, and money that comes late goes back', async () => {
  const verdict = await green('pay-vs-close', '--rate', '30', '--duration', '8s');
  expect([...codesOf(verdict)]).toEqual(expect.arrayContaining(['PAID', 'REFUND_PENDING', 'CANCELLED']));
  expect(verdict.invariants.find(({ name }) => name === 'paid-never-cancelled')?.checked).toBeGreaterThan(100);
});

it('expiry-wave: hundreds of orders close by themselves', async () => {
  const verdict = await green('expiry-wave', '--rate', '120', '--duration', '4s');
  expect(verdict.invariants.find(({ name }) => name === 'release-once')?.checked).toBeGreaterThan(200);
});

it('duplicate-compensation: every release comes again', async () => {
  const verdict = await green('duplicate-compensation', '--rate', '30');
  expect(verdict.faults).toMatchObject([{ name: 'duplicate-compensation' }]);
});

it('slow-consumer: admission closes and opens again', async () => {
  const verdict = await green('slow-consumer', '--rate', '150');
  expect(verdict.invariants.find(({ name }) => name === 'admission-bounded')).toMatchObject({ outcome: 'holds' });
});

it('broker-outage: the breaker opens', async () => {
  const verdict = await green('broker-outage', '--rate', '150');
  expect(verdict.invariants.find(({ name }) => name === 'fail-closed')).toMatchObject({ outcome: 'holds' });
});

it('recovery-flood: the flood makes no second outage', async () => {
  await green('recovery-flood', '--rate', '400');
});

it('sold-out-reopens: returned units are sold again', async () => {
  const verdict = await green('sold-out-reopens', '--rate', '40', '--stock', '60');
  expect(verdict.figures.orders).toBeGreaterThan(60);
});

it('bots: people buy as if they were alone', async () => {
  const verdict = await green('bots', '--rate', '300', '--duration', '5s', '--stock', '200');
  expect(verdict.figures.orders).toBe(200);
});

it('restart-everything: nothing lives in a process alone', async () => {
  const verdict = await green('restart-everything', '--rate', '30');
  expect(verdict.faults).toMatchObject([{ name: 'restart-everything', strikes: 2, strikesAsked: 2 }]);
});
