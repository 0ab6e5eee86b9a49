/** The same scenarios on child processes and in containers: the same verdict table, kept as one file; a guard taken out shows in containers too. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';

import type { RunVerdict } from '../../src/facts/verdict.js';
import { freshFolder, lab, REPOSITORY, verdictOf } from '../support/lab-process.js';
import { leftOnEngine, volumes } from './engine.js';

const SCENARIOS = ['hot-sku', 'kill-after-lua', 'drop-broker-ack', 'redis-failover', 'pg-outage'];
const PARITY_FILE = process.env['SECKILL_LAB_PARITY_FILE'] ?? join(REPOSITORY, 'reports', 'parity.json');
const SEED = '20250607';
const reports = freshFolder('parity');
const tables: Record<string, Record<string, VerdictTable>> = {};

interface VerdictTable {
  readonly exitCode: number;
  readonly invariants: Readonly<Record<string, string>>;
  readonly faults: Readonly<Record<string, string>>;
}

/** What has to be the same; how long things took and how many retries there were is not. */
function tableOf(verdict: RunVerdict): VerdictTable {
  return {
    exitCode: verdict.exitCode,
    invariants: Object.fromEntries(verdict.invariants.map(({ name, outcome }) => [name, outcome])),
    faults: Object.fromEntries(verdict.faults.map(({ name, proof }) => [name, proof])),
  };
}

async function run(scenario: string, ...args: string[]): Promise<RunVerdict> {
  return verdictOf(await lab('run', scenario, '--seed', SEED, '--json', '--report-dir', reports, ...args));
}

let volumesBefore: string[];
beforeEach(async () => {
  expect(await leftOnEngine()).toEqual([]);
  volumesBefore = await volumes();
});
afterEach(async () => {
  expect(await leftOnEngine(5_000)).toEqual([]);
  expect(await volumes()).toEqual(volumesBefore);
});
afterAll(() => {
  mkdirSync(join(PARITY_FILE, '..'), { recursive: true });
  writeFileSync(PARITY_FILE, `${JSON.stringify(tables, null, 2)}\n`);
});

it.each(SCENARIOS)('%s gives the same verdict on both', async (scenario) => {
  const local = tableOf(await run(scenario));
  const containers = tableOf(await run(scenario, '--stack', 'containers'));
  tables[scenario] = { local, containers };
  expect(containers).toEqual(local);
  expect(containers.exitCode).toBe(0);
});

it.each(['hot-sku', 'kill-after-lua'])('%s passes with its roles in containers', async (scenario) => {
  const verdict = await run(scenario, '--stack', 'containers', '--roles', 'containers');
  expect({ code: verdict.exitCode, headline: verdict.headline }).toMatchObject({ code: 0 });
});

it('a guard taken out is a violation in containers too', async () => {
  const verdict = await run('hot-sku', '--stack', 'containers', '--mutant', 'inbox-off');
  expect(verdict.exitCode).toBe(1);
});
