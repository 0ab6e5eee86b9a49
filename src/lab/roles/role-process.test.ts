// Real processes with a tiny role in them: exact kills, counts over restarts, pause, cut, and the end of the lab.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import type { LabError } from '../../facts/lab-error.js';
import type { LabEvent } from '../../facts/lab-event.js';
import type { RoleTarget, StepPlan } from '../../facts/targets.js';
import { hostFaultClock } from '../fault-schedule.js';
import { until } from '../../faults/observation.js';
import { packageRoot } from '../package-root.js';
import { createRoleSupervisor, type RoleSupervisor } from '../role-supervisor.js';
import { askRole } from './role-http.js';
import { processStat } from './process-stat.js';

const RUNTIME = join(packageRoot(), 'dist', 'lab', 'roles', 'role-runtime.js');

/** Reaches `gateway.after-reserve` once per POST /hit, `gateway.before-send` twice; `/die` ends it with code 7. */
const TINY_ROLE = `
import { createServer } from 'node:http';
import { runRoleProcess } from ${JSON.stringify(pathToFileURL(RUNTIME).href)};
await runRoleProcess(async (config, { observer, clock, mutant }) => {
  const server = createServer(async (request, response) => {
    if (request.url === '/die') process.exit(7);
    if (request.url === '/metrics') { response.end('# HELP a b\\ntiny_hits_total{role="gateway"} 3\\ntiny_bucket{le="+Inf"} +Inf\\n'); return; }
    if (request.url === '/hit') {
      await observer.reached('gateway.before-send', ['a']);
      await observer.reached('gateway.before-send', ['b']);
      await observer.reached('gateway.after-reserve', ['r1', 'r2']);
      await observer.reached('gateway.after-send', []);
    }
    response.end(JSON.stringify({ nowMs: clock.nowMs(), mutant }));
  });
  await new Promise((resolve) => server.listen(config.listen.port, config.listen.host, resolve));
  return { health: async () => [], fatal: new Promise(() => {}), stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
}, { env: process.env, stdin: process.stdin, exit: (code) => process.exit(code) });
`;

let folder: string;
let supervisor: RoleSupervisor;
let config: RoleConfig;
let deaths: LabError[];
let events: LabEvent[];
let pids: number[];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-lab-role-'));
  writeFileSync(join(folder, 'tiny.mjs'), TINY_ROLE);
  const nowhere = { host: '127.0.0.1', port: 1 };
  config = {
    role: 'gateway',
    instance: 'gateway-1',
    namespace: namespaceOf('tiny'),
    addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: '', password: '' } },
    listen: { host: '127.0.0.1', port: await freePort() },
    activityId: '1',
    skuIds: ['1'],
    strategies: { consumer: 'single', allocator: 'row' },
    tuning: DEFAULT_TUNING,
  };
  deaths = [];
  events = [];
  pids = [];
  supervisor = createRoleSupervisor({
    entry: join(folder, 'tiny.mjs'),
    logDirectory: join(folder, 'logs'),
    emit: (event) => events.push(event),
    registerPid: (pid) => pids.push(pid),
    onUnplannedDeath: (error) => deaths.push(error),
  });
});

afterEach(async () => {
  await supervisor.stopAll();
  for (const pid of pids) expect(processStat(pid)).toBeNull();
  rmSync(folder, { recursive: true });
});

async function startWith(plans: StepPlan[]): Promise<RoleTarget> {
  await supervisor.start([{ config, plans, mutant: 'some-mutant', clockSkewMs: 60_000 }]);
  const [target] = supervisor.roles('gateway');
  if (target === undefined) throw new Error('no target');
  return target;
}

/** The reply, or null when the connection broke. */
async function ask(path = '/hit'): Promise<string | null> {
  return (await askRole(config.listen, path, 5_000))?.body ?? null;
}

const eventually = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  expect(await until(hostFaultClock, 10_000, 5, async () => holds())).toBe(true);
};

const plan = (action: StepPlan['action'], over: Partial<StepPlan> = {}): StepPlan => ({ id: 'p', step: 'gateway.after-reserve', action, firstHit: 3, everyHits: 2, times: 2, ...over });

describe('a role process under the lab', () => {
  test('is killed exactly at the planned hits, with counts that outlive each kill', async () => {
    const target = await startWith([plan('kill')]);
    const answered: boolean[] = [];
    for (let request = 1; request <= 7; request += 1) {
      answered.push((await ask()) !== null);
      await eventually(() => target.exits().length === answered.filter((good) => !good).length && supervisor.allReady());
    }
    // Hits 3 and 5 kill; the plan is used up then.
    expect(answered).toEqual([true, true, false, true, false, true, true]);
    expect(target.actionHits().map(({ hit, action, ids, planId }) => ({ hit, action, ids, planId }))).toEqual([
      { hit: 3, action: 'kill', ids: ['r1', 'r2'], planId: 'p' },
      { hit: 5, action: 'kill', ids: ['r1', 'r2'], planId: 'p' },
    ]);
    expect(target.exits().map(({ signal }) => signal)).toEqual(['SIGKILL', 'SIGKILL']);
    expect(target.stepCounts()['gateway.after-reserve']).toBe(7);
    // Not watched by a plan: written in the background, so the kills may take the last few milliseconds of it.
    await eventually(() => (target.stepCounts()['gateway.after-send'] ?? 0) >= 1);
    expect(pids).toHaveLength(3);
    expect(deaths).toEqual([]);
    expect((await supervisor.scrapeMetrics())['gateway-1']).toMatchObject({ 'tiny_hits_total{role="gateway"}': 3, 'tiny_bucket{le="+Inf"}': Infinity, seckill_lab_role_starts_total: 3 });
    expect(supervisor.cpuSeconds()['gateway-1']).toBeGreaterThan(0.05);
    expect(await supervisor.stopAll()).toMatchObject({ problems: [] });
  });

  test('stops itself at a planned pause and goes on when it is woken', async () => {
    const target = await startWith([plan('pause', { firstHit: 1, times: 1 })]);
    const answer = ask();
    await eventually(() => target.isPaused());
    expect(target.actionHits()).toHaveLength(1);
    await target.resume();
    expect(await answer).not.toBeNull();
    expect(await target.isPaused()).toBe(false);
  });

  test('waits at a planned cut until the lab says go on', async () => {
    const target = await startWith([plan('cut', { firstHit: 1, times: 2, everyHits: 1 })]);
    let settled = 0;
    const first = ask().finally(() => (settled += 1));
    await eventually(() => target.actionHits().length === 1);
    expect(await ask('/healthz')).not.toBeNull();
    expect(settled).toBe(0);
    const hit = target.actionHits()[0];
    if (hit === undefined) throw new Error('no hit');
    target.goOn(hit);
    expect(await first).not.toBeNull();
    // A cut that nobody answers is let go by disarming.
    const second = ask();
    await eventually(() => target.actionHits().length === 2);
    await target.disarm('p');
    expect(await second).not.toBeNull();
  });

  test('no longer strikes once disarmed', async () => {
    const target = await startWith([plan('kill', { firstHit: 1, everyHits: 1, times: 9 })]);
    expect(await ask()).toBeNull();
    await eventually(() => target.exits().length === 1 && supervisor.allReady());
    await target.disarm('p');
    expect(await ask()).not.toBeNull();
    expect(target.actionHits()).toHaveLength(1);
  });

  test('is started again after the lab killed it, and gets clock skew and mutant', async () => {
    const target = await startWith([]);
    const before = target.pid();
    await target.kill();
    await eventually(() => supervisor.allReady());
    expect(target.pid()).not.toBe(before);
    const { nowMs, mutant } = JSON.parse((await ask('/healthz')) ?? '') as { nowMs: number; mutant: string };
    expect(Math.abs(nowMs - Date.now() - 60_000)).toBeLessThan(5_000);
    expect(mutant).toBe('some-mutant');
  });

  test('that dies by itself is an error with its last log lines, and is not started again', async () => {
    const target = await startWith([]);
    await ask('/die');
    await eventually(() => deaths.length === 1);
    expect(deaths[0]).toMatchObject({ code: 'ROLE_DIED', message: 'gateway-1 ended with exit code 7 and nobody had asked it to' });
    expect(target.pid()).toBeNull();
    expect(events.filter((event) => event.kind === 'role').map((event) => event.state)).toEqual(['started', 'ready', 'exited']);
  });

  test('that cannot start fails the start', async () => {
    writeFileSync(join(folder, 'tiny.mjs'), 'console.error("no such luck"); process.exit(3);');
    await expect(startWith([])).rejects.toMatchObject({ code: 'ROLE_START_FAILED', details: ['no such luck'] });
  });

  test('that is stopped is woken and ends in good order', async () => {
    const target = await startWith([]);
    await target.pause();
    await eventually(() => target.isPaused());
    expect(await supervisor.stopAll()).toMatchObject({ problems: [], exits: [{ code: 0, signal: null }] });
  });

  test('ends when the lab is gone', async () => {
    const lab = join(folder, 'lab.mjs');
    writeFileSync(
      lab,
      `import { createRoleSupervisor } from ${JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', 'lab', 'role-supervisor.js')).href)};
const supervisor = createRoleSupervisor({ entry: ${JSON.stringify(join(folder, 'tiny.mjs'))}, logDirectory: ${JSON.stringify(join(folder, 'logs'))}, emit: () => {}, registerPid: () => {}, onUnplannedDeath: () => {} });
await supervisor.start([{ config: ${JSON.stringify(config)}, plans: [], mutant: null, clockSkewMs: 0 }]);
console.log(supervisor.roles('gateway')[0].pid());
setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [lab], { stdio: ['ignore', 'pipe', 'inherit'] });
    const rolePid = Number(await new Promise<string>((resolve) => child.stdout.once('data', (text: Buffer) => { resolve(text.toString()); })));
    expect(processStat(rolePid)).not.toBeNull();
    child.kill('SIGKILL');
    await eventually(() => processStat(rolePid) === null || processStat(rolePid)?.state === 'Z');
    expect(readFileSync(join(folder, 'logs', 'gateway-1.log'), 'utf8')).toBe('');
  });
});
