// Toxics and cuts on real links: landed when the link does what they say, and not when nobody uses it or nothing is held up.
import { describe, expect, test } from 'vitest';

import type { LinkName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { StepHit } from '../facts/targets.js';
import { settledCounters, until } from '../faults/observation.js';
import { parseFaultOption } from '../faults/registry.js';
import { hostFaultClock, numberFaults, startFaultSchedule } from './fault-schedule.js';
import { fakeRole, link, redisThrough, roles, runToEnd, schedule, stack, targetsOf } from './fault-proofs.test-support.js';

describe('cut-at-step', () => {
  /** A process that waits at a step; told to go on it makes its call `afterMs` later. */
  function waitingRole(call: () => Promise<unknown>, afterMs: number): void {
    fakeRole('gateway-1');
    const [role] = roles.splice(-1);
    if (role === undefined) throw new Error('just made');
    const hit: StepHit = { instance: 'gateway-1', step: 'gateway.before-reserve', hit: 1, ids: [], monoUs: hostFaultClock.monoUs(), action: 'cut', planId: 'cut-at-step#1@gateway-1' };
    roles.push({ ...role, actionHits: () => [hit], goOn: () => setTimeout(() => void call(), afterMs) });
  }

  test.each(['downstream', 'upstream'])('%s: the call is lost although others lose theirs before it', async (stream) => {
    const others = redisThrough('gateway-redis');
    const own = redisThrough('gateway-redis');
    await Promise.all([others.ping(), own.ping()]);
    const answers: string[] = [];
    waitingRole(() => own.ping().then((answer) => answers.push(answer), () => answers.push('lost')), 20);
    const goesOn = { is: true };
    const chatter = (async () => {
      while (goesOn.is) {
        await others.ping().catch(() => undefined);
        await hostFaultClock.wait(1);
      }
    })();
    const record = await runToEnd(`cut${stream}`, `cut-at-step@step=gateway.before-reserve,link=gateway-redis,stream=${stream}`);
    goesOn.is = false;
    await chatter;
    expect(record).toMatchObject({ proof: 'landed', healed: true, strikes: 1 });
    expect(await until(hostFaultClock, 2_000, 10, () => Promise.resolve(answers.length > 0))).toBe(true);
    expect(answers).toEqual(['lost']);
  });

  test('a process that makes no call: not landed', async () => {
    waitingRole(() => Promise.resolve(), 0);
    // Toxiproxy counts what a connection lost when it ends: those of the tests before are to be counted first.
    await settledCounters(hostFaultClock, link(1, 'gateway-redis'));
    expect(await runToEnd('cutnone', 'cut-at-step@step=gateway.before-reserve,link=gateway-redis')).toMatchObject({ proof: 'not-landed', healed: true, strikes: 0 });
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
