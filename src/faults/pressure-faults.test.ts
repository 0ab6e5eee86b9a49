// The faults of the system under pressure, against fake targets: landed only when all that each predicts was seen, and healed whatever happened.
import { describe, expect, test } from 'vitest';

import { FakeRole, fakeTargets } from './fake-targets.test-support.js';
import { begin, live } from './fault-in-hand.test-support.js';

describe('broker-outage, mode=kill', () => {
  test('lands when the broker was silent at both ends, and starts it again', async () => {
    const targets = fakeTargets([]);
    const { proof, heal } = await live('broker-outage@s=2,mode=kill', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 1 });
    expect(heal.healed).toBe(true);
    expect(targets.fakeServer('kafka').dead).toBe(false);
  });

  test('does not land when the broker survives', async () => {
    const targets = fakeTargets([]);
    targets.fakeServer('kafka').deaf = true;
    expect((await live('broker-outage@s=2,mode=kill', targets)).proof).toMatchObject({ landed: false, observed: 'kafka killed; seen ANSWERING, at the end ANSWERING' });
  });

  test('is started again when the run is broken off', async () => {
    const targets = fakeTargets([]);
    expect((await live('broker-outage@s=60,mode=kill', targets, AbortSignal.abort())).heal.healed).toBe(true);
    expect(targets.fakeServer('kafka').dead).toBe(false);
  });
});

describe('restart-everything', () => {
  const roles = () => [new FakeRole('gateway-1'), new FakeRole('consumer-1'), new FakeRole('closer-1')];

  test('lands when every process ended each time with orders unpaid', async () => {
    const targets = fakeTargets(roles());
    targets.unpaid = 12;
    const { proof, heal } = await live('restart-everything@times=2', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 2 });
    expect(proof.observed).toContain('3 of 3 processes ended by SIGKILL with 12 orders unpaid');
    expect(heal.healed).toBe(true);
  });

  test('does not land when no order is unpaid, when a process has no exit, or when there is none', async () => {
    const all = roles();
    const targets = fakeTargets(all);
    expect((await live('restart-everything', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    targets.unpaid = 1;
    for (const role of all.slice(0, 1)) role.killLeavesNoExit = true;
    expect((await live('restart-everything', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    const empty = fakeTargets([]);
    empty.unpaid = 1;
    expect((await live('restart-everything', empty)).proof.landed).toBe(false);
  });

  test('is not healed while a process is not healthy', async () => {
    const [role = new FakeRole('gateway-1')] = roles();
    const targets = fakeTargets([role]);
    targets.unpaid = 1;
    const hand = begin('restart-everything', targets).hand;
    await hand.inject(new AbortController().signal);
    role.healthy = false;
    expect(await hand.heal()).toMatchObject({ healed: false });
  });
});

describe('slow-consumer', () => {
  test.each([
    ['consumer.after-order', true],
    ['consumer.received', false],
  ] as const)('%s reached meanwhile → landed %s', async (step, landed) => {
    const role = new FakeRole('consumer-1');
    const targets = fakeTargets([role]);
    const link = targets.fakeLink('consumer-postgres');
    const seen: unknown[] = [];
    link.onChange = (toxic) => { seen.push(toxic); setImmediate(() => { role.steps = { [step]: 4 }; }); };
    const { proof, heal } = await live('slow-consumer@latency=300,s=1', targets);
    expect(proof.landed).toBe(landed);
    expect(seen).toMatchObject([{ type: 'latency', stream: 'downstream', attributes: { latency: 300 } }]);
    expect(heal.healed).toBe(true);
    expect(link.toxics).toEqual([]);
  });

  test('rate= narrows instead of delaying', async () => {
    const targets = fakeTargets([]);
    const seen: unknown[] = [];
    targets.fakeLink('consumer-postgres').onChange = (toxic) => seen.push(toxic);
    await live('slow-consumer@rate=5', targets);
    expect(seen).toMatchObject([{ type: 'bandwidth', attributes: { rate: 5 } }]);
  });
});

describe('duplicate-compensation', () => {
  test('lands when each round repeated something', async () => {
    const targets = fakeTargets([]);
    targets.repeatable = 7;
    targets.ended = 4;
    const { proof, heal } = await live('duplicate-compensation@n=5,rounds=2', targets);
    expect(proof).toMatchObject({ landed: true, strikes: 2, observed: '5 events and 5 compensation tasks again, 4 releases asked for; 5 events and 5 compensation tasks again, 4 releases asked for' });
    expect(heal.healed).toBe(true);
  });

  test('does not land when there is nothing to repeat, or the run ends before', async () => {
    expect((await live('duplicate-compensation', fakeTargets([]))).proof).toMatchObject({ landed: false, strikes: 0 });
    const targets = fakeTargets([]);
    targets.repeatable = 7;
    // Events alone, or tasks alone, are half of what the name says.
    expect((await live('duplicate-compensation', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    [targets.repeatable, targets.ended] = [0, 4];
    expect((await live('duplicate-compensation', targets)).proof).toMatchObject({ landed: false, strikes: 0 });
    targets.repeatable = 7;
    expect((await live('duplicate-compensation', targets, AbortSignal.abort())).proof).toMatchObject({ landed: false, observed: 'never struck' });
  });
});
