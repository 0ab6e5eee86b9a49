// poison-messages against fake targets: it lands only when each record that it brought in became exactly one dead letter.
import { expect, test } from 'vitest';

import type { FaultProof } from './fault.js';
import { fakeClock, fakeTargets, type FakeTargets } from './fake-targets.test-support.js';
import { poisonMessages } from './poison-messages.js';

async function proofOf(n: string, targets: FakeTargets): Promise<FaultProof> {
  const bound = poisonMessages.bind({ n });
  if (!bound.ok) throw new Error(bound.problems.join());
  const hand = bound.fault.begin({ id: 'f#1', targets, clock: fakeClock() });
  await hand.inject(new AbortController().signal);
  expect((await hand.heal()).healed).toBe(true);
  return hand.prove();
}

test.each(['1', '2', '7'])('%s records, as many dead letters', async (n) => {
  const targets = fakeTargets([]);
  expect(await proofOf(n, targets)).toMatchObject({ landed: true, strikes: Number(n) });
  expect(targets.deadLetters).toBe(7 + Number(n));
});

test('one that left no trace: not landed', async () => {
  const targets = fakeTargets([]);
  targets.poisonLost = 1;
  expect(await proofOf('4', targets)).toMatchObject({ landed: false, observed: '4 brought in, 3 dead letters more, 1 of reservations' });
});

test('refused messages of no reservation: not landed', async () => {
  const targets = fakeTargets([]);
  targets.unreserved = 1;
  expect(await proofOf('8', targets)).toMatchObject({ landed: false, observed: '8 brought in, 8 dead letters more, 1 of reservations' });
});

test('dead letters that are none of its own: not landed', async () => {
  const targets = fakeTargets([]);
  targets.poisonLost = -1;
  expect(await proofOf('4', targets)).toMatchObject({ landed: false, observed: '4 brought in, 5 dead letters more, 1 of reservations' });
});
