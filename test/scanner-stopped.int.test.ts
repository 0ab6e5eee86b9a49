/** The alert "scanner stopped" fires when the scanner's process is frozen by the fault of that name, and clears when it runs again. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { parse } from 'yaml';

import { fires, samplesOf, type Scrape } from './support/prom-evaluation.js';
import { textOf } from './support/source-tree.js';
import { namespaceOf } from '../src/domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../src/domain/role-config.js';
import { parseFaultOption } from '../src/faults/registry.js';
import { builtEntry } from '../src/stack/local/built-entry.js';
import { migrate } from '../src/system/ledger/migrate.js';
import { deleteTopics, ensureTopics } from '../src/system/order-log/topics.js';
import { hostFaultClock, numberFaults, startFaultSchedule } from '../src/lab/fault-schedule.js';
import { createRoleSupervisor, type RoleSupervisor } from '../src/lab/role-supervisor.js';
import { askRole } from '../src/lab/roles/role-http.js';
import { runTargets } from '../src/lab/run-targets.js';

const stack = inject('stack');
const { direct } = stack;
const namespace = namespaceOf(`a${randomBytes(6).toString('hex')}`);
const config: RoleConfig = {
  role: 'scanner', instance: 'scanner-1', namespace, activityId: '7', skuIds: ['70'], listen: { host: '127.0.0.1', port: stack.lanes[1]?.rolePorts[0] ?? 0 },
  strategies: { consumer: 'single', allocator: 'token' }, tuning: DEFAULT_TUNING, addresses: { redis: direct.redisPrimary, kafka: direct.kafka, postgres: direct.postgres },
};

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for: string }[] }[];
}

let folder: string;
let supervisor: RoleSupervisor;

async function inPostgres(database: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ ...direct.postgres, database });
  await client.connect();
  await use(client);
  await client.end();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-lab-alert-'));
  await inPostgres('postgres', (client) => client.query(`CREATE DATABASE ${namespace.database}`));
  await inPostgres(namespace.database, migrate);
  await ensureTopics({ address: direct.kafka, namespace, partitions: 1 });
  supervisor = createRoleSupervisor({ entry: builtEntry('lab/role-main.js'), logDirectory: folder, emit: () => undefined, registerPid: () => undefined, onUnplannedDeath: (error) => { throw error; } });
});

afterEach(async () => {
  await supervisor.stopAll();
  await deleteTopics(direct.kafka, namespace);
  await inPostgres('postgres', (client) => client.query(`DROP DATABASE ${namespace.database} WITH (FORCE)`));
  rmSync(folder, { recursive: true });
});

test('a frozen scanner fires ScannerStopped although it answers no scrape, and clears it when it goes on', async () => {
  const rule = (parse(textOf('ops/alerts.yml')) as RulesFile).groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === 'ScannerStopped');
  if (rule === undefined) throw new Error('no rule ScannerStopped');
  const history: Scrape[] = [];
  /** One scrape, as Prometheus would do it: who does not answer has no samples. */
  const fired = async (): Promise<boolean> => {
    const reply = await askRole(config.listen, '/metrics', 500);
    history.push({ atMs: Date.now(), samples: reply === null ? [] : samplesOf(reply.body) });
    return fires(rule, history, Date.now());
  };

  await supervisor.start([{ config, plans: [], mutant: null, clockSkewMs: 0 }]);
  await expect.poll(async () => (await askRole(config.listen, '/metrics', 500))?.body ?? '', { timeout: 10_000 }).toMatch(/^seckill_scanner_last_pass_timestamp_seconds\{.*\} 1\d+/m);
  expect(await fired()).toBe(false);

  const parsed = parseFaultOption('freeze-role@role=scanner-1,t=0s,s=60');
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const noServers = { server: () => { throw new Error('not in this test'); }, link: () => { throw new Error('not in this test'); }, setRedisPrimary: () => { throw new Error('not in this test'); } };
  const targets = runTargets({ stack: { description: stack, ...noServers }, lane: 1, supervisor, namespace, sku: { activityId: '7', skuId: '70' } });
  const schedule = startFaultSchedule(numberFaults([parsed.fault]), targets, { stormStartUs: hostFaultClock.monoUs(), emit: () => undefined, clock: hostFaultClock });
  try {
    await expect.poll(fired, { timeout: 30_000, interval: 500 }).toBe(true);
    expect(history.at(-1)?.samples).toEqual([]);
  } finally {
    await schedule.healAll();
  }
  await expect.poll(fired, { timeout: 15_000, interval: 200 }).toBe(false);
  expect(history.at(-1)?.samples).not.toEqual([]);
  await targets.close();
});
