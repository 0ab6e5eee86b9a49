/** The same scenarios on child processes and in containers: the same verdict table, kept as one file; a guard taken out shows in containers too. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';

import type { Manifest, ManifestStack } from '../../src/facts/run-store.js';
import { SERVER_NAMES } from '../../src/facts/stack-description.js';
import type { RunVerdict } from '../../src/facts/verdict.js';
import { inboxOff } from '../../src/mutants/inbox-off.js';
import { freshFolder, lab, REPOSITORY, verdictOf } from '../support/lab-process.js';
import { leftOnEngine, volumes } from './engine.js';

/** Fewer strikes of the same kind and a shorter storm, so that both providers get through CI; what stays empty runs as it is. */
const SHORTENED: Readonly<Record<string, { readonly options?: { readonly duration: string }; readonly faults?: readonly string[] }>> = {
  'hot-sku': {},
  'kill-after-lua': { options: { duration: '16s' }, faults: ['kill-role@step=gateway.after-reserve,every=5,times=10'] },
  'drop-broker-ack': { options: { duration: '16s' }, faults: ['lose-produce-ack@t=1s,n=5', 'link-toxic@link=consumer-postgres,type=latency,latency=30ms,t=500ms,s=10'] },
  'redis-failover': {},
  'pg-outage': { options: { duration: '14s' }, faults: ['pg-outage@t=2s,s=8'] },
};
/** `SECKILL_LAB_PARITY=whole` runs the scenarios as they are. */
const isWhole = process.env['SECKILL_LAB_PARITY'] === 'whole';
const PARITY_FILE = process.env['SECKILL_LAB_PARITY_FILE'] ?? join(REPOSITORY, 'reports', 'parity.json');
const SEED = 20_250_607;
const reports = freshFolder('parity');
const tables: Record<string, Record<string, Evidence>> = {};

interface VerdictTable {
  readonly exitCode: number;
  readonly invariants: Readonly<Record<string, string>>;
  readonly faults: Readonly<Record<string, string>>;
}

/** A table, and on what it came about. */
interface Evidence extends VerdictTable {
  readonly seed: number;
  readonly stack: ManifestStack | null;
}

/** What the run itself has written down of where it ran. */
function stackOf(verdict: RunVerdict): ManifestStack | null {
  return (JSON.parse(readFileSync(join(verdict.run.directory, 'manifest.json'), 'utf8')) as Manifest).stack;
}

function evidenceOf(verdict: RunVerdict): Evidence {
  return { ...tableOf(verdict), seed: verdict.run.seed, stack: stackOf(verdict) };
}

const CONTENT: unknown = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const IN_CONTAINERS = { provider: 'containers', servers: Object.fromEntries(SERVER_NAMES.map((name) => [name, { imageId: CONTENT }])) };

/** What has to be the same; how long things took and how many retries there were is not. */
function tableOf(verdict: RunVerdict): VerdictTable {
  return {
    exitCode: verdict.exitCode,
    invariants: Object.fromEntries(verdict.invariants.map(({ name, outcome }) => [name, outcome])),
    faults: Object.fromEntries(verdict.faults.map(({ name, proof }) => [name, proof])),
  };
}

async function run(scenario: string, ...args: string[]): Promise<RunVerdict> {
  const plan = join(reports, `${scenario}.json`);
  writeFileSync(plan, JSON.stringify({ schemaVersion: 1, scenario, seed: SEED, ...(isWhole ? {} : SHORTENED[scenario]) }));
  return verdictOf(await lab('run', '--plan', plan, '--json', '--report-dir', reports, ...args));
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
  writeFileSync(PARITY_FILE, `${JSON.stringify({ runs: isWhole ? 'whole' : 'shortened', scenarios: tables }, null, 2)}\n`);
});

it.each(Object.keys(SHORTENED))('%s gives the same verdict on both', async (scenario) => {
  const local = await run(scenario);
  const containers = await run(scenario, '--stack', 'containers');
  tables[scenario] = { local: evidenceOf(local), containers: evidenceOf(containers) };
  expect(stackOf(local)).toMatchObject({ provider: 'local', roles: { home: 'processes' } });
  expect(stackOf(containers)).toMatchObject({ ...IN_CONTAINERS, roles: { home: 'processes' } });
  expect(tableOf(containers)).toEqual(tableOf(local));
  expect(containers.exitCode).toBe(0);
});

it.each(['hot-sku', 'kill-after-lua'])('%s passes with its roles in containers', async (scenario) => {
  const verdict = await run(scenario, '--stack', 'containers', '--roles', 'containers');
  expect({ code: verdict.exitCode, headline: verdict.headline }).toMatchObject({ code: 0 });
  expect(stackOf(verdict)).toMatchObject({ ...IN_CONTAINERS, roles: { home: 'containers', imageId: CONTENT } });
});

it('a guard taken out is a violation in containers too', async () => {
  const verdict = await run('hot-sku', '--stack', 'containers', '--mutant', inboxOff.name);
  expect(verdict.exitCode).toBe(1);
  expect(stackOf(verdict)).toMatchObject(IN_CONTAINERS);
  expect(tableOf(verdict).invariants[inboxOff.caughtBy]).toBe('violated');
});
