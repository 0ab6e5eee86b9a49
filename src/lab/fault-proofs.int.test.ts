// Network faults against real servers: each lands on a link in use and says so, and none claims to have landed on a link nobody uses.
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import type { LinkName, RoleInstance, RoleName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { LinkTarget, RoleTarget, ServerTarget } from '../facts/targets.js';
import { until } from '../faults/observation.js';
import { parseFaultOption } from '../faults/registry.js';
import { toxiproxyApi } from '../stack/local/toxiproxy-api.js';
import { createGatewayProducer } from '../system/order-log/steady-producer.js';
import { ensureTopics } from '../system/order-log/topics.js';
import { hostFaultClock, numberFaults, startFaultSchedule, type FaultSchedule } from './fault-schedule.js';
import { runTargets, type RunTargets } from './run-targets.js';

const stack = inject('stack');
const lane = stack.lanes[1];
if (lane === undefined) throw new Error('two lanes expected');
const api = toxiproxyApi(stack.direct.toxiproxyApi);

function link(_lane: number, name: LinkName | 'replication'): LinkTarget {
  if (name === 'replication') throw new Error('not in these tests');
  const proxy = lane?.proxies[name] ?? '';
  return {
    name,
    listen: lane?.links[name] ?? { host: '127.0.0.1', port: 1 },
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
};
let redisFrozen = false;
function signalRedis(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  process.kill(stack.servers['redis-primary'].pid ?? 0, signal);
  redisFrozen = signal === 'SIGSTOP';
  return Promise.resolve();
}

let undo: (() => Promise<unknown>)[] = [];
let roles: RoleTarget[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
  roles = [];
});

function fakeRole(instance: RoleInstance, steps: Partial<Record<StepName, number>> = {}): void {
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

function targetsOf(id: string): RunTargets {
  const targets = runTargets({
    stack: { description: stack, server: () => redisServer, link, setRedisPrimary: () => undefined },
    lane: 1,
    supervisor: { roles: (role: RoleName) => roles.filter(({ instance }) => instance.startsWith(role)) },
    namespace: namespaceOf(id),
    sku: { activityId: '1', skuId: '1' },
  });
  undo.push(() => targets.close());
  return targets;
}

function schedule(id: string, option: string): FaultSchedule {
  const parsed = parseFaultOption(option);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const started = startFaultSchedule(numberFaults([parsed.fault]), targetsOf(id), { stormStartUs: hostFaultClock.monoUs(), emit: () => undefined, clock: hostFaultClock });
  undo.push(() => started.healAll());
  return started;
}

async function runToEnd(id: string, option: string): Promise<FaultRecord> {
  const started = schedule(id, option);
  await started.done;
  const [record] = await started.healAll();
  if (record === undefined) throw new Error('no record');
  return record;
}

/** Sends over the gateway's link until the test ends, like the gateway: one try each, `kept` and `failed` counted. */
async function produceSteadily(id: string): Promise<{ kept: number; failed: number }> {
  const namespace = namespaceOf(id);
  const topic = namespace.ordersTopic;
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 2 });
  const producer = createGatewayProducer({ address: lane?.links['gateway-kafka'] ?? { host: '', port: 0 }, clientId: 'gateway-1', topics: [topic], log: () => undefined, sendBudgetMs: 200 });
  const sent = { kept: 0, failed: 0 };
  const work = { goesOn: true };
  const loop = (async () => {
    while (work.goesOn) {
      const { outcome } = await producer.send(topic, { key: String(sent.kept), value: 'v' });
      if (outcome === 'sent') sent.kept += 1;
      else if (outcome === 'unknown') sent.failed += 1;
      await hostFaultClock.wait(5);
    }
  })();
  undo.push(async () => {
    work.goesOn = false;
    await loop;
    await producer.close();
  });
  return sent;
}

function redisThrough(name: LinkName): Redis {
  const redis = new Redis({ ...(lane?.links[name] ?? {}), retryStrategy: () => 50, maxRetriesPerRequest: 0, commandTimeout: 500 });
  redis.on('error', () => undefined);
  undo.push(() => {
    redis.disconnect();
    return Promise.resolve();
  });
  return redis;
}

describe('lose-produce-ack', () => {
  test.each(['close', 'hang'])('%s: every strike is a message stored and an answer lost', async (mode) => {
    const id = `ack${mode}`;
    fakeRole('gateway-1');
    const sent = await produceSteadily(id);
    await until(hostFaultClock, 10_000, 10, () => Promise.resolve(sent.kept > 20));
    const record = await runToEnd(id, `lose-produce-ack@n=5,mode=${mode}`);
    expect(record).toMatchObject({ proof: 'landed', healed: true, strikes: 5, strikesAsked: 5 });
    // The strike is over when its toxic is gone; its sender hears of the loss a moment later.
    expect(await until(hostFaultClock, 2_000, 10, () => Promise.resolve(sent.failed >= 5))).toBe(true);
    // The topic holds what the producer was told failed.
    for (const stop of undo.splice(-2)) await stop();
    const targets = targetsOf(id);
    expect(await targets.witness.ordersTopicEnd()).toBeGreaterThanOrEqual(sent.kept + 5);
    expect(await link(1, 'gateway-kafka').listToxics()).toEqual([]);
  });

  test('a strike while the scanner resends is not counted', async () => {
    const steps: Partial<Record<StepName, number>> = {};
    fakeRole('scanner-1', new Proxy(steps, { get: (_, step) => (step === 'scanner.before-resend' ? Math.round(hostFaultClock.monoUs()) : 0) }));
    await produceSteadily('ackscan');
    const record = await runToEnd('ackscan', 'lose-produce-ack@n=1');
    expect(record).toMatchObject({ proof: 'not-landed', strikes: 0, healed: true });
  });

  test('does not land when nobody produces', async () => {
    const sent = await produceSteadily('acknone');
    await until(hostFaultClock, 10_000, 10, () => Promise.resolve(sent.kept > 2));
    for (const stop of undo.splice(-1)) await stop();
    const started = schedule('acknone', 'lose-produce-ack@n=1');
    const [record] = await started.healAll();
    expect(record).toMatchObject({ proof: 'not-injected', healed: true });
    expect(await runToEnd('acknone', 'lose-produce-ack@n=1')).toMatchObject({ proof: 'not-landed', healed: true });
  });
});

describe('redis-down and pg-outage', () => {
  test('proxy mode cuts what was connected, refuses, and is healed', async () => {
    fakeRole('gateway-1');
    fakeRole('scanner-1');
    const redis = redisThrough('gateway-redis');
    await redis.ping();
    const started = schedule('down', 'redis-down@s=1');
    await until(hostFaultClock, 5_000, 5, async () => !(await link(1, 'gateway-redis').isEnabled()));
    await expect(redis.ping()).rejects.toThrow();
    await started.done;
    const [record] = await started.healAll();
    expect(record).toMatchObject({ proof: 'landed', healed: true, strikes: 1 });
    expect((record?.healedUs ?? 0) - (record?.injectedUs ?? 0)).toBeGreaterThanOrEqual(1_000_000);
    expect(await until(hostFaultClock, 5_000, 20, async () => (await redis.ping().catch(() => '')) === 'PONG')).toBe(true);
  });

  test('proxy mode does not land when no role is connected', async () => {
    fakeRole('consumer-1');
    expect(await runToEnd('idle', 'pg-outage@s=200ms')).toMatchObject({ proof: 'not-landed', healed: true });
  });

  test('PostgreSQL behind its proxy', async () => {
    fakeRole('consumer-1');
    const client = new pg.Client({ ...stack.direct.postgres, ...lane.links['consumer-postgres'], database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('SELECT 1');
    expect(await runToEnd('pgdown', 'pg-outage@s=200ms')).toMatchObject({ proof: 'landed', healed: true });
    await client.end().catch(() => undefined);
  });

  test('freeze mode: silent and open, then awake', async () => {
    expect(await runToEnd('ice', 'redis-down@s=300ms,mode=freeze')).toMatchObject({ proof: 'landed', healed: true });
  });

  test('is healed when the run is broken off in the middle', async () => {
    fakeRole('gateway-1');
    const redis = redisThrough('gateway-redis');
    await redis.ping();
    const started = schedule('stop', 'redis-down@s=60');
    await until(hostFaultClock, 5_000, 5, async () => !(await link(1, 'gateway-redis').isEnabled()));
    const [record] = await started.healAll();
    expect(record).toMatchObject({ proof: 'landed', healed: true });
    expect(await link(1, 'gateway-redis').isEnabled()).toBe(true);
  });
});

describe('link-toxic', () => {
  test.each(['type=timeout', 'type=limit_data,bytes=0', 'type=reset_peer', 'type=timeout,stream=upstream'])('%s: bytes that never left', async (toxic) => {
    const redis = redisThrough('gateway-redis');
    await redis.ping();
    const started = schedule('toxic', `link-toxic@link=gateway-redis,s=300ms,${toxic}`);
    await until(hostFaultClock, 5_000, 5, async () => (await link(1, 'gateway-redis').listToxics()).length === 1);
    await redis.ping().catch(() => undefined);
    await started.done;
    const [record] = await started.healAll();
    expect(record).toMatchObject({ proof: 'landed', healed: true });
  });

  test('latency lands only where steps use the link', async () => {
    const steps: Partial<Record<StepName, number>> = { 'gateway.before-reserve': 3 };
    fakeRole('gateway-1', steps);
    const started = schedule('slow', 'link-toxic@link=gateway-redis,type=latency,latency=50,s=300ms');
    await until(hostFaultClock, 5_000, 5, async () => (await link(1, 'gateway-redis').listToxics()).length === 1);
    await until(hostFaultClock, 1_000, 20, () => Promise.resolve((steps['gateway.before-reserve'] = (steps['gateway.before-reserve'] ?? 0) + 1) > 5));
    await started.done;
    expect((await started.healAll())[0]).toMatchObject({ proof: 'landed', healed: true });
    expect(await runToEnd('slow', 'link-toxic@link=gateway-redis,type=latency,latency=50,s=100ms')).toMatchObject({ proof: 'not-landed', healed: true });
  });

  test.each([
    ['gateway-redis', 'gateway.before-reserve', 'type=latency,latency=60,jitter=20'],
    ['gateway-redis', 'gateway.before-reserve', 'type=bandwidth,rate=64'],
    ['gateway-redis', 'gateway.before-reserve', 'type=slicer,size=500,delay=20'],
    ['gateway-redis', 'gateway.before-reserve', 'type=slow_close,delay=150'],
    ['consumer-postgres', 'consumer.after-order', 'type=latency,latency=60,stream=upstream'],
    ['consumer-postgres', 'consumer.after-order', 'type=bandwidth,rate=64'],
    ['consumer-postgres', 'consumer.after-order', 'type=bandwidth,rate=64,stream=upstream'],
    ['consumer-postgres', 'consumer.after-order', 'type=slow_close,delay=150,stream=upstream'],
    ['consumer-kafka', 'consumer.received', 'type=latency,latency=60'],
    ['consumer-kafka', 'consumer.received', 'type=bandwidth,rate=64'],
    ['consumer-kafka', 'consumer.received', 'type=bandwidth,rate=10000,stream=upstream'],
    ['consumer-kafka', 'consumer.received', 'type=slicer,size=500,delay=20,stream=upstream'],
    ['consumer-kafka', 'consumer.received', 'type=slow_close,delay=150'],
  ] as const)('%s, %s reached, %s: as slow as it says', async (name, step, toxic) => {
    const steps: Partial<Record<StepName, number>> = { [step]: 3 };
    fakeRole(step.startsWith('gateway') ? 'gateway-1' : 'consumer-1', steps);
    const started = schedule('slowly', `link-toxic@link=${name},${toxic},s=300ms`);
    await until(hostFaultClock, 10_000, 5, async () => (await link(1, name).listToxics()).length === 1);
    await until(hostFaultClock, 1_000, 20, () => Promise.resolve((steps[step] = (steps[step] ?? 0) + 1) > 5));
    await started.done;
    const [record] = await started.healAll();
    expect(record).toMatchObject({ proof: 'landed', healed: true });
    expect(await link(1, name).listToxics()).toEqual([]);
  });

  test('a toxic that holds nothing up has not landed: the proxy of a link whose toxics go nowhere', async () => {
    const steps: Partial<Record<StepName, number>> = new Proxy({}, { get: () => Math.round(hostFaultClock.monoUs()) });
    fakeRole('gateway-1', steps);
    // The lab speaks over a proxy that the toxic is not on.
    const other = stack.lanes[0]?.links['gateway-redis'];
    const targets = targetsOf('powerless');
    const crossed = { ...targets, link: (of: LinkName | 'replication') => ({ ...targets.link(of), listen: other ?? targets.link(of).listen }) };
    const parsed = parseFaultOption('link-toxic@link=gateway-redis,type=latency,latency=2s,s=300ms');
    if (!parsed.ok) throw new Error(parsed.problems.join());
    const started = startFaultSchedule(numberFaults([parsed.fault]), crossed, { stormStartUs: hostFaultClock.monoUs(), emit: () => undefined, clock: hostFaultClock });
    await started.done;
    expect((await started.healAll())[0]).toMatchObject({ proof: 'not-landed', healed: true, observed: expect.stringContaining('of 2000 at least') as string });
  });

  test('a link nobody uses: not landed', async () => {
    expect(await runToEnd('lonely', 'link-toxic@link=closer-postgres,type=timeout,s=200ms')).toMatchObject({ proof: 'not-landed', healed: true, strikes: 0 });
  });
});
