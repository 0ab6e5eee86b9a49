// Outages and lost answers against real servers: each lands on a link in use and says so, and none claims to have landed on a link nobody uses.
import pg from 'pg';
import { describe, expect, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import type { StepName } from '../domain/steps.js';
import { until } from '../faults/observation.js';
import { createGatewayProducer } from '../system/order-log/steady-producer.js';
import { ensureTopics } from '../system/order-log/topics.js';
import { hostFaultClock } from './fault-schedule.js';
import { fakeRole, lane, link, redisThrough, runToEnd, schedule, stack, targetsOf, undo } from './fault-proofs.test-support.js';

/** Sends over the gateway's link until the test ends, like the gateway: one try each, `kept` and `failed` counted. */
async function produceSteadily(id: string): Promise<{ kept: number; failed: number }> {
  const namespace = namespaceOf(id);
  const topic = namespace.ordersTopic;
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 2 });
  const producer = createGatewayProducer({ address: lane.links['gateway-kafka'], clientId: 'gateway-1', topics: [topic], log: () => undefined, sendBudgetMs: 200 });
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
    for (const stop of undo.splice(0).reverse()) await stop();
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

  test('unplug mode: nothing arrives, nobody is refused, then all goes on', async () => {
    fakeRole('consumer-1');
    const client = new pg.Client({ ...stack.direct.postgres, ...lane.links['consumer-postgres'], database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    const running = runToEnd('unplugged', 'pg-outage@s=1,mode=unplug');
    expect(await until(hostFaultClock, 5_000, 20, () => Promise.race([client.query('SELECT 1').then(() => false), hostFaultClock.wait(200).then(() => true)]))).toBe(true);
    expect(await running).toMatchObject({ proof: 'landed', healed: true });
    await client.end().catch(() => undefined);
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
