// Toxics that only delay: landed when every exchange over the link took as long as the toxic holds it up, on however slow a machine, and somebody used the link.
import { describe, expect, test } from 'vitest';

import type { FaultProof, HealProof } from './fault.js';
import type { FakeLink } from './fake-link.test-support.js';
import { FakeRole, fakeClock, fakeTargets } from './fake-targets.test-support.js';
import { parseFaultOption } from './registry.js';

const DELAYS = ['type=latency,latency=100', 'type=latency,latency=100,jitter=50,stream=upstream', 'type=bandwidth,rate=64', 'type=slicer,size=100,delay=5', 'type=slow_close,delay=70'];

async function live(option: string, change: (link: FakeLink) => void): Promise<{ proof: FaultProof; heal: HealProof; link: FakeLink }> {
  const parsed = parseFaultOption(option);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const role = new FakeRole('consumer-1');
  const targets = fakeTargets([role]);
  const link = targets.fakeLink('consumer-postgres');
  link.onChange = () => setImmediate(() => { role.steps = { 'consumer.after-order': 4 }; });
  change(link);
  const hand = parsed.fault.begin({ id: 'f#1', targets, clock: fakeClock() });
  await hand.inject(new AbortController().signal);
  const heal = await hand.heal();
  return { proof: await hand.prove(), heal, link };
}

const option = (toxic: string): string => `link-toxic@link=consumer-postgres,s=1,${toxic}`;

describe.each([...DELAYS.map(option), 'slow-consumer@s=1,latency=300', 'slow-consumer@s=1,rate=5'])('%s', (fault) => {
  test('lands on a quick machine and on a slow one', async () => {
    for (const slownessMs of [0.2, 900]) {
      const { proof, heal } = await live(fault, (link) => { link.slownessMs = slownessMs; });
      expect(proof).toMatchObject({ landed: true, strikes: 1 });
      expect(heal.healed).toBe(true);
    }
  });

  test('does not land when the toxic is listed and holds nothing up', async () => {
    const { proof } = await live(fault, (link) => { link.powerless = true; });
    expect(proof).toMatchObject({ landed: false, strikes: 0 });
    expect(proof.observed).toMatch(/toxic seen armed; .* took 0.2 ms before and 0.2, 0.2, 0.2 ms meanwhile/);
  });

  test('does not land when the link cannot be measured, and is healed all the same', async () => {
    const { proof, heal, link } = await live(fault, (dumb) => { dumb.mute = true; });
    expect(proof).toMatchObject({ landed: false });
    expect(proof.observed).toContain('NOT measured: nobody answers');
    expect([heal.healed, link.toxics]).toEqual([true, []]);
  });

  test('does not land when nobody uses the link', async () => {
    expect((await live(fault, (link) => { link.onChange = () => undefined; })).proof.landed).toBe(false);
  });
});

test.each([
  ['type=bandwidth,rate=64', [0, 10, -5, 1], true],
  ['type=bandwidth,rate=64', [0, 3, -5, 1], false],
  // A delay of its own each time: nothing is made up for.
  ['type=latency,latency=100', [0, 10, -5, 1], false],
] as const)('%s, off by %j ms: landed %s', async (toxic, offMs, landed) => {
  const left: number[] = [...offMs];
  const { proof } = await live(option(toxic), (link) => { Object.defineProperty(link, 'slownessMs', { get: () => left.shift() ?? 0 }); });
  expect(proof.landed).toBe(landed);
});

test.each([
  ['type=latency,latency=0', 'hold up by a millisecond'],
  ['type=latency,latency=50,jitter=50', 'hold up by a millisecond'],
  ['type=latency,latency=50,rate=3', 'does nothing with rate=…'],
  ['type=bandwidth,rate=0', 'whole number from 1 to 10000'],
  ['type=bandwidth,rate=1000000', 'whole number from 1 to 10000'],
  ['type=slow_close,delay=0', 'hold up by a millisecond'],
  ['type=slicer,size=10', 'needs delay=…'],
  ['type=slicer,size=10,delay=0', 'hold up by a millisecond'],
  ['type=slicer,size=1000000,delay=1', 'whole number from 1 to 16384'],
  ['type=timeout,latency=5', 'does nothing with latency=…'],
])('%s is refused: it would do nothing', (toxic, problem) => {
  const parsed = parseFaultOption(option(toxic));
  expect(parsed.ok ? [] : parsed.problems.join()).toContain(problem);
});

test.each(['slow-consumer@latency=0', 'slow-consumer@rate=0', 'slow-consumer@rate=100000'])('%s is refused: it would do nothing', (fault) => {
  expect(parseFaultOption(fault).ok).toBe(false);
});
