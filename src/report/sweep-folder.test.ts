// What a sweep leaves on disk when it is killed is enough to go on, and its outcome never hides what was not done.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { SweepCase, SweepHead, SweepOutcome, SweepRow } from '../facts/sweep.js';
import { createSweepFolder, readSweepFolder } from './sweep-folder.js';
import { sweepOutcome, sweepTable } from './sweep-table.js';

const caseOf = (when: 'first' | 'middle' | 'last', action: 'kill' | 'cut' = 'kill'): SweepCase => ({
  id: `relay.after-send ${action} ${when}`,
  base: 'sweep-sale',
  strikes: [{ step: 'relay.after-send', action, when, hit: 1, link: null, stream: null, hasPartner: false }],
});
const CASES = [caseOf('first'), caseOf('last'), caseOf('first', 'cut')];
const HEAD: SweepHead = { schemaVersion: 2, startedAt: '2026-01-02T03:04:05.000Z', seed: 7, mutant: null, lanes: 2, gitSha: null, codeDigest: 'f00d', counts: [], cases: CASES, unreached: [] };
const rowOf = (each: SweepCase, outcome: SweepOutcome = 'green'): SweepRow => ({
  ...each, isNearer: false, outcome, headline: 'so it is', recoveryMs: 1_200, tookMs: 3_000, attempts: 1, firstAttempt: null, directory: outcome === 'green' ? null : '/kept',
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-lab-sweep-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a sweep folder', () => {
  test('gives back head and rows; a torn last line is a case that is still to be done', async () => {
    const store = await createSweepFolder(folder, new Date(HEAD.startedAt), HEAD.seed);
    await store.saveHead(HEAD);
    for (const each of CASES.slice(0, 2)) store.appendRow(rowOf(each));
    appendFileSync(join(store.directory, 'rows.ndjson'), '{"id":"relay.after-send cut fir');
    const saved = readSweepFolder(store.directory);
    expect(saved.head).toEqual(HEAD);
    expect(saved.rows.map(({ id }) => id)).toEqual(['relay.after-send kill first', 'relay.after-send kill last']);
  });

  test('a case that was done again counts once, as it was last', async () => {
    const store = await createSweepFolder(folder, new Date(HEAD.startedAt), HEAD.seed);
    await store.saveHead(HEAD);
    for (const outcome of ['unknown', 'green'] as const) for (const each of CASES.slice(0, 1)) store.appendRow(rowOf(each, outcome));
    expect(readSweepFolder(store.directory).rows.map(({ outcome }) => outcome)).toEqual(['green']);
  });

  test('without a head there is nothing to go on with', () => {
    expect(() => readSweepFolder(folder)).toThrow('holds no sweep to go on with');
  });
});

describe('the outcome of a sweep', () => {
  test.each<[string, SweepHead, readonly SweepRow[], ReturnType<typeof sweepOutcome>]>([
    ['all hold', HEAD, CASES.map((each) => rowOf(each)), 'green'],
    ['one is violated, whatever else', HEAD, [rowOf(caseOf('first'), 'violated'), rowOf(caseOf('last'), 'unknown')], 'violated'],
    ['one proves nothing', HEAD, [...CASES.slice(1).map((each) => rowOf(each)), rowOf(caseOf('first'), 'unknown')], 'unknown'],
    ['one could not be carried out', HEAD, [...CASES.slice(1).map((each) => rowOf(each)), rowOf(caseOf('first'), 'failed')], 'unknown'],
    ['one is void', HEAD, [...CASES.slice(1).map((each) => rowOf(each)), rowOf(caseOf('first'), 'void')], 'unknown'],
    ['one has no row', HEAD, CASES.slice(1).map((each) => rowOf(each)), 'unknown'],
    ['a step was never reached', { ...HEAD, unreached: ['relay.after-mark'] }, CASES.map((each) => rowOf(each)), 'unknown'],
    ['nothing was to be done', { ...HEAD, cases: [] }, [], 'unknown'],
    ['one was drained late', HEAD, [...CASES.slice(1).map((each) => rowOf(each)), rowOf(caseOf('first'), 'service-level-missed')], 'service-level-missed'],
  ])('%s', (_, head, rows, outcome) => {
    expect(sweepOutcome(head, rows)).toBe(outcome);
  });
});

test('the table has a row per step with the worst of each cell, and tells where what is not well is kept', () => {
  const rows = [rowOf(caseOf('first')), rowOf(caseOf('last'), 'violated')];
  const table = sweepTable({ ...HEAD, unreached: ['relay.after-mark'] }, rows);
  expect(table).toContain('| relay.after-send | VIOLATED (last) 2× 1.2 s | – | not run |');
  expect(table).toContain('| relay.after-mark | never reached | never reached | never reached |');
  expect(table).toContain('VIOLATED: relay.after-send kill last\n  so it is\n  /kept');
  expect(table).toContain('2 of 3 cases');
});
