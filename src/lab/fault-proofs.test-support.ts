// What tests of fault proofs on real servers share: the links of one lane, processes that are made up, and the life of one fault.
import { Redis } from 'ioredis';
import { afterEach, inject } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import type { LinkName, RoleInstance, RoleName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { ServerName } from '../facts/stack-description.js';
import type { LinkTarget, NetworkTarget, RoleTarget, ServerTarget } from '../facts/targets.js';
import { parseFaultOption } from '../faults/registry.js';
import { networkOfProxies } from '../stack/local/network-of-proxies.js';
import { toxiproxyApi } from '../stack/local/toxiproxy-api.js';
import { hostFaultClock, numberFaults, startFaultSchedule, type FaultSchedule } from './fault-schedule.js';
import { runTargets, type RunTargets } from './run-targets.js';

export const stack = inject('stack');
const [, second] = stack.lanes;
if (second === undefined) throw new Error('two lanes expected');
export const lane = second;
const api = toxiproxyApi(stack.direct.toxiproxyApi);

export function link(_lane: number, name: LinkName | 'replication'): LinkTarget {
  if (name === 'replication') throw new Error('not in these tests');
  const proxy = lane.proxies[name];
  return {
    name,
    listen: lane.links[name],
    addToxic: (toxic) => api.addToxic(proxy, toxic),
    removeToxic: (toxic) => api.removeToxic(proxy, toxic),
    listToxics: () => api.listToxics(proxy),
    setEnabled: (enabled) => api.setEnabled(proxy, enabled),
    isEnabled: () => api.isEnabled(proxy),
    setUpstream: (upstream) => api.setUpstream(proxy, upstream),
    counters: () => api.counters(proxy),
  };
}

/** Redis is one process, so signals to it are the whole freeze. */
const redisServer: ServerTarget = {
  name: 'redis-primary',
  freeze: () => signalRedis('SIGSTOP'),
  thaw: () => signalRedis('SIGCONT'),
  isFrozen: () => Promise.resolve(redisFrozen),
  kill: () => Promise.reject(new Error('not in these tests')),
  start: () => Promise.reject(new Error('not in these tests')),
  isRunning: () => Promise.resolve(true),
  expectEnd: () => Promise.reject(new Error('not in these tests')),
  ...networkOf('redis-primary'),
};

/** By the proxies of the lane that these tests use. */
function networkOf(name: ServerName): NetworkTarget {
  return networkOfProxies(name, 'redis-primary', 1, (_, named) => (link(1, named)));
}
let redisFrozen = false;
function signalRedis(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  process.kill(stack.servers['redis-primary'].pid ?? 0, signal);
  redisFrozen = signal === 'SIGSTOP';
  return Promise.resolve();
}

/** Undone after each test, the last first. */
export const undo: (() => Promise<unknown>)[] = [];
/** The processes that run, for this test. */
export const roles: RoleTarget[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  roles.length = 0;
});

export function fakeRole(instance: RoleInstance, steps: Partial<Record<StepName, number>> = {}): void {
  const nothing = (): Promise<void> => Promise.resolve();
  roles.push({
    instance,
    pid: () => 1,
    kill: nothing,
    pause: nothing,
    resume: nothing,
    isPaused: () => Promise.resolve(false),
    isHealthy: () => Promise.resolve(true),
    actionHits: () => [],
    stepCounts: () => steps,
    disarm: nothing,
    goOn: () => undefined,
    exits: () => [],
    metrics: () => Promise.resolve({}),
    clock: () => Promise.resolve(null),
  });
}

export function targetsOf(id: string): RunTargets {
  const targets = runTargets({
    stack: { description: stack, server: (name) => ({ ...redisServer, name, ...networkOf(name) }), link, setRedisPrimary: () => undefined },
    lane: 1,
    supervisor: { roles: (role: RoleName) => roles.filter(({ instance }) => instance.startsWith(role)) },
    namespace: namespaceOf(id),
    sku: { activityId: '1', skuId: '1' },
  });
  undo.push(() => targets.close());
  return targets;
}

export function schedule(id: string, option: string): FaultSchedule {
  const parsed = parseFaultOption(option);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const started = startFaultSchedule(numberFaults([parsed.fault]), targetsOf(id), { stormStartUs: hostFaultClock.monoUs(), emit: () => undefined, clock: hostFaultClock });
  undo.push(() => started.healAll());
  return started;
}

export async function runToEnd(id: string, option: string): Promise<FaultRecord> {
  const started = schedule(id, option);
  await started.done;
  const [record] = await started.healAll();
  if (record === undefined) throw new Error('no record');
  return record;
}

export function redisThrough(name: LinkName): Redis {
  const redis = new Redis({ ...lane.links[name], retryStrategy: () => 50, maxRetriesPerRequest: 0, commandTimeout: 500 });
  redis.on('error', () => undefined);
  undo.push(() => {
    redis.disconnect();
    return Promise.resolve();
  });
  return redis;
}
