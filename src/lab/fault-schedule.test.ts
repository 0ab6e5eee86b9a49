// The schedule: faults start at their time, end with the storm, and are all healed in reverse order whatever one of them does.
import { describe, expect, test } from 'vitest';

import { LabError } from '../facts/lab-error.js';
import type { LabEvent } from '../facts/lab-event.js';
import type { BoundFault, FaultInHand } from '../faults/fault.js';
import { fakeClock, fakeTargets } from '../faults/fake-targets.test-support.js';
import { numberFaults, startFaultSchedule, type FaultSchedule } from './fault-schedule.js';

const done: string[] = [];

function fault(name: string, startsAfterMs: number, hand: Partial<FaultInHand>): BoundFault {
  return {
    name,
    options: {},
    startsAfterMs,
    strikesAsked: 1,
    holds: [],
    needs: [],
    skews: () => [],
    prediction: `${name} bites`,
    plans: () => [],
    begin: () => ({
      inject: () => Promise.resolve(),
      heal: () => {
        done.push(`heal ${name}`);
        return Promise.resolve({ healed: true, observed: 'whole again' });
      },
      prove: () => Promise.resolve({ landed: true, observed: 'seen', strikes: 1, hits: [], mayLose: null }),
      ...hand,
    }),
  };
}

/** Until the run is broken off. */
const forever = (clock: ReturnType<typeof fakeClock>) => (signal: AbortSignal): Promise<void> => clock.wait(1e12, signal);

function start(make: (clock: ReturnType<typeof fakeClock>) => BoundFault[]): { schedule: FaultSchedule; events: LabEvent[]; clock: ReturnType<typeof fakeClock> } {
  done.length = 0;
  const clock = fakeClock();
  const events: LabEvent[] = [];
  const schedule = startFaultSchedule(numberFaults(make(clock)), fakeTargets([]), { stormStartUs: clock.nowUs, emit: (event) => events.push(event), clock });
  return { schedule, events, clock };
}

const eventually = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

test('numbers faults by name', () => {
  expect(numberFaults([fault('a', 0, {}), fault('b', 0, {}), fault('a', 0, {})]).map(({ id }) => id)).toEqual(['a#1', 'b#1', 'a#2']);
});

describe('a schedule', () => {
  test('injects at the time asked and heals in its own time', async () => {
    const { schedule, events } = start(() => [fault('late', 700, {}), fault('early', 200, {})]);
    await schedule.done;
    expect(done).toEqual(['heal early', 'heal late']);
    const records = await schedule.healAll();
    expect(records.map(({ id, proof, healed }) => ({ id, proof, healed }))).toEqual([
      { id: 'late#1', proof: 'landed', healed: true },
      { id: 'early#1', proof: 'landed', healed: true },
    ]);
    for (const record of records) expect(record.injectedUs).toBeGreaterThanOrEqual(record.scheduledUs);
    expect(events.map((event) => (event.kind === 'fault' ? `${event.id} ${event.state}` : ''))).toEqual(['early#1 armed', 'early#1 healed', 'early#1 landed', 'late#1 armed', 'late#1 healed', 'late#1 landed']);
    expect(done).toHaveLength(2);
  });

  test('ends and heals what still runs, last first, once however often it is asked', async () => {
    const { schedule, events } = start((clock) => [fault('first', 0, { inject: forever(clock) }), fault('second', 0, { inject: forever(clock) })]);
    await eventually(() => events.length === 2);
    const [records, again] = await Promise.all([schedule.healAll(), schedule.healAll()]);
    expect(done).toEqual(['heal second', 'heal first']);
    expect(again).toBe(records);
    expect(records.every(({ proof, healed }) => proof === 'landed' && healed)).toBe(true);
  });

  test('a fault whose time never came is not injected', async () => {
    const { schedule } = start(() => [fault('never', 1e12, {})]);
    expect(await schedule.healAll()).toMatchObject([{ proof: 'not-injected', injectedUs: null, healedUs: null, healed: true, observed: 'the storm ended before its time' }]);
  });

  test('a fault that throws is healed, has not landed, and does not keep the others', async () => {
    const { schedule } = start((clock) => [
      fault('good', 0, { inject: forever(clock) }),
      fault('bad', 0, { inject: () => Promise.reject(new LabError('STACK_GONE', 'no proxy', '')) }),
    ]);
    await eventually(() => done.includes('heal bad'));
    expect(await schedule.healAll()).toMatchObject([{ proof: 'landed' }, { proof: 'not-landed', healed: true, observed: 'failed while injecting: no proxy; seen' }]);
    expect(done).toEqual(['heal bad', 'heal good']);
  });

  test('a heal or a proof that fails is told and never thrown', async () => {
    const { schedule, events } = start(() => [
      fault('a', 0, { heal: () => Promise.reject(new Error('still broken')) }),
      fault('b', 0, { prove: () => Promise.reject(new Error('cannot see')) }),
      fault('c', 0, { heal: () => new Promise(() => undefined) }),
    ]);
    await schedule.done;
    expect(await schedule.healAll()).toMatchObject([
      { healed: false, healObserved: 'still broken', proof: 'landed' },
      { healed: true, proof: 'not-landed', observed: 'the proof failed: cannot see' },
      { healed: false, healObserved: 'not done within 45000 ms' },
    ]);
    expect(events.filter((event) => event.kind === 'fault' && event.state === 'not-healed')).toHaveLength(2);
  });

  test('a fault that ignores the end is left behind', async () => {
    const { schedule, events } = start(() => [fault('stuck', 0, { inject: () => new Promise(() => undefined) })]);
    await eventually(() => events.length === 1);
    expect(await schedule.healAll()).toMatchObject([{ healed: true }]);
  });
});
