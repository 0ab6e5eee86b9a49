/**
 * The scenarios of a system under pressure on the real stack: exit code 0, faults proven, and figures that show that it came to what the story tells. A scenario says
 * itself what it has to come to (`shows`), and a run that falls short is not green; a run that is made smaller here has to come to its share.
 */
import { readFileSync, writeFileSync } from 'node:fs';
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

async function run(...args: string[]): Promise<RunVerdict> {
  return verdictOf(await lab('run', ...args, '--seed', '11', '--json', '--report-dir', reports));
}

/** Green, with every fault proven and everything shown; `figures`: what the scenario has to have counted, in its own order. */
async function green(args: readonly string[], figures: readonly string[]): Promise<RunVerdict> {
  const verdict = await run(...args);
  expect({ code: verdict.exitCode, headline: verdict.headline }).toMatchObject({ code: 0 });
  for (const fault of verdict.faults) expect(fault).toMatchObject({ proof: 'landed', healed: true });
  expect(verdict.shown.map(({ figure, outcome }) => `${figure} ${outcome}`)).toEqual(figures.map((figure) => `${figure} shown`));
  return verdict;
}

const seen = (verdict: RunVerdict, figure: string): number => verdict.shown.find((one) => one.figure === figure)?.seen ?? -1;

function payerTellings(verdict: RunVerdict): readonly PayerTelling[] {
  return decodeTellings(readFileSync(join(verdict.run.directory, 'history.ndjson'), 'utf8')).payerTellings;
}

it('pay-vs-close: over a thousand payments meet the end of their order, each side wins hundreds, and late money goes back', async () => {
  const verdict = await green(['pay-vs-close'], ['races', 'races-won-by-payment', 'races-won-by-end', 'late-money-returned']);
  expect(seen(verdict, 'races')).toBeGreaterThanOrEqual(1_000);
  expect([...new Set(payerTellings(verdict).map(({ code }) => code))]).toEqual(expect.arrayContaining(['PAID', 'REFUND_PENDING', 'CANCELLED']));
});

it('expiry-wave: thousands of orders close by themselves although the closer dies, and retention takes what is old', async () => {
  const verdict = await green(['expiry-wave'], ['orders-timed-out', 'inbox-rows-trimmed', 'events-archived', 'callbacks-archived']);
  expect(seen(verdict, 'orders-timed-out')).toBeGreaterThanOrEqual(2_000);
  expect(verdict.faults).toMatchObject([{ name: 'kill-role', strikes: 2 }, { name: 'kill-role', strikes: 1 }]);
});

it('duplicate-compensation: every release comes again', async () => {
  const verdict = await green(['duplicate-compensation'], ['units-released']);
  expect(verdict.faults).toMatchObject([{ name: 'duplicate-compensation', strikes: 2 }]);
});

it('poison-messages: dead letters with cause and place, although those who work on them die', async () => {
  const kills = ['kill-role@step=consumer.after-dead-letter,every=4,times=2', 'kill-role@step=undertaker.before-commit,every=5,times=2'];
  const verdict = await green(['poison-messages', '--rate', '150', ...kills.flatMap((fault) => ['--fault', fault])], []);
  expect(verdict.figures).toMatchObject({ deadLetters: 20 });
});

it('redis-failover: five hundred acknowledged reservations and more are lost, and what is lost for good is excused and counted', async () => {
  const verdict = await green(['redis-failover'], ['losses-excused', 'paused-answers', 'let-in-after-outage', 'second-orders-refused']);
  const failover = verdict.faults.find(({ name }) => name === 'redis-failover');
  expect(Number(/^(\d+) acknowledged reservations/.exec(failover?.observed ?? '')?.[1])).toBeGreaterThanOrEqual(500);
  expect(verdict.figures.excused).toBe(seen(verdict, 'losses-excused'));
});

it('slow-consumer: admission closes before the age bound and opens again', async () => {
  const verdict = await green(['slow-consumer', '--rate', '150'], ['turned-away-by-admission', 'turned-away-in-a-row', 'let-in-again']);
  expect(verdict.invariants.find(({ name }) => name === 'admission-bounded')).toMatchObject({ outcome: 'holds' });
});

it('broker-outage: the breaker opens, and closes again', async () => {
  const verdict = await green(['broker-outage', '--rate', '150'], ['turned-away-by-breaker', 'let-in-after-outage']);
  expect(verdict.invariants.find(({ name }) => name === 'fail-closed')).toMatchObject({ outcome: 'holds' });
});

it('recovery-flood: the flood makes no second outage', async () => {
  const verdict = await green(['recovery-flood', '--rate', '400'], ['turned-away-by-admission', 'let-in-again']);
  expect(verdict.invariants.find(({ name }) => name === 'admission-bounded')).toMatchObject({ outcome: 'holds' });
});

it('reconcile-under-load: what was changed by hand is repaired while buyers come', async () => {
  await green(['reconcile-under-load'], ['repairs']);
});

it('sold-out-reopens: returned units are sold again', async () => {
  const verdict = await green(['sold-out-reopens', '--rate', '40', '--stock', '60'], ['temp-sold-out-answers', 'orders-beyond-stock', 'second-purchases']);
  expect(verdict.figures.orders).toBeGreaterThan(60);
});

it('sold-out-reopens with more units than anybody wants is not green', async () => {
  const verdict = await run('sold-out-reopens', '--rate', '40', '--stock', '5000', '--duration', '8s');
  expect(verdict).toMatchObject({ outcome: 'unknown', exitCode: 2 });
  expect(verdict.shown.filter(({ outcome }) => outcome === 'not-shown').map(({ figure }) => figure)).toEqual(expect.arrayContaining(['temp-sold-out-answers', 'orders-beyond-stock']));
});

it('bots: people buy as if they were alone', async () => {
  const verdict = await green(['bots'], ['turned-away-by-permit', 'orders', 'people-limited']);
  expect(verdict.figures.orders).toBe(500);
});

it('waiting-room: hundreds are drawn, thousands are not, and a gateway that dies in its round draws nobody', async () => {
  const verdict = await green(['waiting-room'], ['turned-away-by-draw', 'orders']);
  const lottery = verdict.invariants.find(({ name }) => name === 'lottery-kept');
  expect(lottery).toMatchObject({ outcome: 'holds' });
  expect(lottery?.checked).toBeGreaterThan(300);
  expect(verdict.faults).toMatchObject([{ name: 'kill-role', strikes: 3 }]);
});

it('restart-everything: nothing lives in a process alone', async () => {
  const verdict = await green(['restart-everything'], ['orders-carried-over']);
  expect(verdict.faults).toMatchObject([{ name: 'restart-everything', strikes: 2, strikesAsked: 2 }]);
});

it('row-lock: units that somebody holds are not sold out', async () => {
  const verdict = await green(['row-lock', '--rate', '60', '--duration', '9s'], []);
  expect(verdict.faults).toMatchObject([{ name: 'row-lock', strikes: 1 }]);
});

it('redis-tail-loss: a Redis without its last writes is rebuilt first', async () => {
  const verdict = await green(['redis-tail-loss', '--rate', '80', '--duration', '12s'], ['paused-answers', 'let-in-after-outage']);
  expect(verdict.faults).toMatchObject([{ name: 'redis-tail-loss', mayLose: { store: 'redis' } }]);
});

it('database-neglected: neither dead rows nor a failing archive make an order wrong', async () => {
  await green(['database-neglected', '--rate', '80'], []);
});

/** Scenarios that need no more said of them than that they are green, with every fault proven and healed and all of it struck. */
it.each([
  'kill-in-transaction', 'kill-after-commit', 'cut-at-commit', 'kill-before-outbox-mark', 'scanner-stopped', 'deadlock', 'pool-exhausted', 'servers-killed', 'skewed-clocks', 'script-flush',
  'redis-eviction', 'rough-network', 'rough-network-of-life', 'standing-still', 'servers-cut-off',
])('%s: every fault lands and nothing is lost or done twice', async (name) => {
  const verdict = await green([name], []);
  expect(verdict.faults.length).toBeGreaterThan(0);
  for (const { strikes, strikesAsked } of verdict.faults) expect(strikes).toBe(strikesAsked);
});

it.skipIf(process.getuid?.() !== 0)('disk-full: what found no room is made up for', async () => {
  const verdict = await green(['disk-full'], []);
  expect(verdict.faults.map(({ name }) => name)).toContain('disk-full');
});

it('a plan file carries a run out, its faults instead of the scenario’s, and the run tells its plan', async () => {
  const plan = join(reports, 'plan.yaml');
  writeFileSync(plan, 'schemaVersion: 1\nscenario: pg-outage\nseed: 11\noptions: { rate: 60, duration: 5s, stock: 200 }\nfaults: [script-flush@t=1s,n=3]\n');
  const verdict = verdictOf(await lab('run', '--plan', plan, '--json', '--report-dir', reports));
  expect(verdict.exitCode).toBe(0);
  expect(verdict.faults).toMatchObject([{ name: 'script-flush', proof: 'landed', strikes: 3 }]);
  const manifest = JSON.parse(readFileSync(join(verdict.run.directory, 'manifest.json'), 'utf8')) as { plan: unknown };
  expect(manifest.plan).toMatchObject({ schemaVersion: 1, scenario: 'pg-outage', seed: 11, options: { rate: 60, duration: '5000ms', stock: 200 }, faults: ['script-flush@t=1s,n=3'] });
});

it('size measures every setting it can with the fewest orders, and recommends what it found', async () => {
  const { code, stdout } = await lab('size', '--repeats', '1', '--orders', '6000', '--json');
  expect(code).toBe(0);
  const tables = JSON.parse(stdout) as { readonly setting: string; readonly rows: readonly { readonly value: number | string; readonly rates: readonly number[] }[] }[];
  expect(tables.map(({ setting, rows }) => [setting, rows.map(({ value }) => value)])).toEqual([
    ['pool size', [8, 16, 32, 64, 128]], ['batch', [50, 100, 250, 500]], ['consumers', [1, 2, 3, 4]], ['allocator', ['token', 'row']],
  ]);
  // No machine writes so many orders a second: that would be the rate of how the transactions began.
  for (const { rows } of tables) for (const { rates } of rows) for (const rate of rates) expect(rate > 10 && rate < 50_000, String(rate)).toBe(true);
});
