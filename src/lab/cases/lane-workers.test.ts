// Real processes with a tiny role in them: roles together and alone, one case after another, and deaths that hit only whom they should.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { roleOfInstance, type RoleInstance } from '../../domain/roles.js';
import type { LabError } from '../../facts/lab-error.js';
import type { RoleTarget, StepPlan } from '../../facts/targets.js';
import { until } from '../../faults/observation.js';
import { hostFaultClock } from '../fault-schedule.js';
import { packageRoot } from '../package-root.js';
import { askRole } from '../roles/role-http.js';
import { processStat } from '../roles/process-stat.js';
import { createRoleSupervisor, type RoleSupervisor } from '../role-supervisor.js';
import { createWorkerPool, type WorkerPool } from './lane-workers.js';

/** Reaches a step of its role per `/hit`; `/fail` throws where nobody catches it. */
const TINY_ROLE = `
import { createServer } from 'node:http';
import { runRoleHost } from ${JSON.stringify(pathToFileURL(join(packageRoot(), 'dist', 'lab', 'roles', 'role-host-runtime.js')).href)};
const STEP = { gateway: 'gateway.admitted', relay: 'relay.after-send', scanner: 'scanner.after-mark' };
runRoleHost(async (config, { observer, log }) => {
  log('info', 'starting', {});
  const server = createServer(async (request, response) => {
    if (request.url === '/fail') setTimeout(() => { throw new Error('nobody caught this'); }, 0);
    if (request.url === '/hit') await observer.reached(STEP[config.role], ['x']);
    response.end(config.namespace.id);
  });
  await new Promise((resolve) => server.listen(config.listen.port, config.listen.host, resolve));
  return { health: async () => [], fatal: new Promise(() => {}), stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
}, { stdin: process.stdin, exit: (code) => process.exit(code) });
`;

let folder: string;
let pool: WorkerPool;
let pids: number[];
let deaths: LabError[];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-lab-workers-'));
  writeFileSync(join(folder, 'tiny.mjs'), TINY_ROLE);
  pids = [];
  deaths = [];
  pool = createWorkerPool({ logDirectory: folder, lanes: 1, entry: join(folder, 'tiny.mjs'), registerPid: (pid) => pids.push(pid) });
});

afterEach(async () => {
  await pool.stop();
  for (const pid of pids) expect(processStat(pid)).toBeNull();
  rmSync(folder, { recursive: true });
});

interface Case {
  readonly supervisor: RoleSupervisor;
  target(instance: RoleInstance): RoleTarget;
  ask(instance: RoleInstance, path: string): Promise<string | null>;
}

async function startCase(name: string, instances: readonly RoleInstance[], plans: Partial<Record<RoleInstance, StepPlan>> = {}): Promise<Case> {
  const nowhere = { host: '127.0.0.1', port: 1 };
  const configs = await Promise.all(instances.map(async (instance): Promise<RoleConfig> => ({
    role: roleOfInstance(instance), instance, namespace: namespaceOf(name), addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: '', password: '' } },
    listen: { host: '127.0.0.1', port: await freePort() }, activityId: '1', skuIds: ['1'], strategies: { consumer: 'single', allocator: 'row' }, tuning: DEFAULT_TUNING,
  })));
  const supervisor = createRoleSupervisor({
    entry: join(folder, 'tiny.mjs'),
    logDirectory: join(folder, name),
    emit: () => undefined,
    registerPid: (pid) => pids.push(pid),
    onUnplannedDeath: (error) => deaths.push(error),
    place: pool.lane(0).placeRoles(new Set(Object.keys(plans) as RoleInstance[])),
  });
  await supervisor.start(configs.map((config) => ({ config, plans: [plans[config.instance]].flatMap((plan) => plan ?? []), mutant: null, clockSkewMs: 0 })));
  const find = (instance: RoleInstance): RoleTarget => {
    const found = supervisor.roles(roleOfInstance(instance)).find((each) => each.instance === instance);
    if (found === undefined) throw new Error(`no ${instance}`);
    return found;
  };
  return {
    supervisor,
    target: find,
    ask: async (instance, path) => (await askRole(configs.find((config) => config.instance === instance)?.listen ?? nowhere, path, 5_000))?.body ?? null,
  };
}

const eventually = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  expect(await until(hostFaultClock, 15_000, 5, async () => holds())).toBe(true);
};

test('roles of one case share a process, and the next case gets the same one', async () => {
  const first = await startCase('first', ['gateway-1', 'relay-1']);
  const shared = first.target('gateway-1').pid();
  expect(first.target('relay-1').pid()).toBe(shared);
  expect(await first.ask('relay-1', '/hit')).toBe('first');
  await eventually(() => first.target('relay-1').stepCounts()['relay.after-send'] === 1);
  expect(first.target('gateway-1').stepCounts()).toEqual({});
  expect((await first.supervisor.stopAll()).problems).toEqual([]);
  expect(first.target('relay-1').stepCounts()).toEqual({ 'relay.after-send': 1 });
  const second = await startCase('second', ['gateway-1', 'relay-1']);
  expect(second.target('relay-1').pid()).toBe(shared);
  expect(second.target('relay-1').stepCounts()).toEqual({});
  expect(await second.ask('relay-1', '/')).toBe('second');
  expect((await second.supervisor.stopAll()).problems).toEqual([]);
  expect(readFileSync(join(folder, 'second', 'relay-1.log'), 'utf8')).toContain('"instance":"relay-1"');
  expect(deaths).toEqual([]);
});

test('a victim dies alone, comes back in another process, and its neighbours stay', async () => {
  const running = await startCase('victim', ['gateway-1', 'relay-1'], { 'relay-1': { id: 'p', step: 'relay.after-send', action: 'kill', firstHit: 2, everyHits: 1, times: 1 } });
  const [neighbour, victim] = [running.target('gateway-1').pid(), running.target('relay-1').pid()];
  expect(victim).not.toBe(neighbour);
  expect(await running.ask('relay-1', '/hit')).toBe('victim');
  expect(await running.ask('relay-1', '/hit')).toBeNull();
  await eventually(() => running.target('relay-1').isHealthy());
  expect(running.target('relay-1').exits()).toMatchObject([{ pid: victim, signal: 'SIGKILL' }]);
  expect(running.target('relay-1').stepCounts()).toEqual({ 'relay.after-send': 2 });
  expect(running.target('gateway-1').pid()).toBe(neighbour);
  await running.target('relay-1').disarm('p');
  expect(await running.ask('relay-1', '/hit')).toBe('victim');
  expect((await running.supervisor.stopAll()).problems).toEqual([]);
  expect(deaths).toEqual([]);
});

test('a victim that stops stops alone, and is woken at the end of the case', async () => {
  const running = await startCase('paused', ['gateway-1', 'scanner-1'], { 'scanner-1': { id: 'p', step: 'scanner.after-mark', action: 'pause', firstHit: 1, everyHits: 1, times: 1 } });
  void running.ask('scanner-1', '/hit');
  await eventually(() => running.target('scanner-1').isPaused());
  expect(await running.ask('gateway-1', '/')).toBe('paused');
  expect((await running.supervisor.stopAll()).problems).toEqual([]);
});

test('an exception that nobody catches ends the process for all roles in it, and each log says why', async () => {
  const running = await startCase('failing', ['gateway-1', 'relay-1']);
  await running.ask('gateway-1', '/fail');
  await eventually(() => deaths.length === 2);
  expect(deaths.map(({ code }) => code)).toEqual(['ROLE_DIED', 'ROLE_DIED']);
  for (const instance of ['gateway-1', 'relay-1']) expect(readFileSync(join(folder, 'failing', `${instance}.log`), 'utf8')).toContain('nobody caught this');
  await running.supervisor.stopAll();
  const next = await startCase('next', ['gateway-1']);
  expect(await next.ask('gateway-1', '/')).toBe('next');
  expect((await next.supervisor.stopAll()).problems).toEqual([]);
  expect(existsSync(join(folder, 'alone.log'))).toBe(true);
});
