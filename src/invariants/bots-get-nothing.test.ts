/** An order of somebody who showed no good permit is an order out of nothing. */
import { expect, it } from 'vitest';

import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { noPhantomOrder } from './no-phantom-order.js';

it.each(['noPermit', 'forgedPermit', 'expiredPermit'] as const)('an order for a request with %s is told', (share) => {
  const facts = handWrittenFacts();
  const bots = { noPermit: 0, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0, devices: 1, [share]: 1 };
  // The same world, and a schedule in which all but the first arrival are such bots.
  const mix = { ...facts.run.load.mix, repeatShare: 0, sameUserShare: 0, conflictShare: 0, malformedShare: 0 };
  const verdict = noPhantomOrder.judge({ ...facts, run: { ...facts.run, load: { ...facts.run.load, mix, permits: { validForMs: 1_000, bots } } } });
  expect(verdict.outcome).toBe('violated');
  expect(verdict.first?.claim ?? '').toContain('showed no good permit');
});
