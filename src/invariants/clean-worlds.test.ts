/** In a right world no judge raises an alarm, whatever legal things happened in it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handWrittenFacts, type WorldOptions } from './hand-written-facts.test-support.js';
import { INVARIANTS } from './registry.js';

const complaints = (options: Partial<WorldOptions>): string[] => {
  const facts = handWrittenFacts(options);
  return INVARIANTS.map((invariant) => invariant.judge(facts)).filter((verdict) => verdict.outcome !== 'holds').map((verdict) => `${verdict.name} ${verdict.outcome}: ${verdict.first?.claim ?? verdict.note}`);
};

describe('a clean world', () => {
  it.each(['token', 'row'] as const)('alarms nobody with allocator %s', (allocator) => {
    expect(complaints({ allocator })).toEqual([]);
  });

  it.each(['token', 'row'] as const)('alarms nobody with all that may legally happen, allocator %s', (allocator) => {
    const share = fc.double({ min: 0, max: 0.3, noNaN: true });
    const few = fc.double({ min: 0, max: 0.2, noNaN: true });
    const rare = fc.double({ min: 0, max: 0.1, noNaN: true });
    const options = fc.record({
      seed: fc.integer({ min: 1, max: 1_000_000 }), arrivals: fc.integer({ min: 20, max: 150 }), stock: fc.integer({ min: 2, max: 60 }),
      limitedShare: share, lostAnswerShare: share, duplicateShare: share,
      mix: fc.record({ repeatShare: share, sameUserShare: share, conflictShare: share, malformedShare: fc.double({ min: 0, max: 0.1, noNaN: true }) }),
      fates: fc.record({
        closed: few, rejected: few, manual: rare, deadLetter: rare, cancelled: few, expired: few, latePaid: rare, paid: few, paidTwice: rare, mismatched: rare, refunded: few,
      }),
      rules: fc.record({ restockOnCancel: fc.boolean(), rebuyAfterCancel: fc.boolean() }),
      // From "while the storm goes on" to "after it".
      endsAfterUs: fc.integer({ min: 200_000, max: 2_000_000 }),
    });
    fc.assert(fc.property(options, (drawn) => {
      expect(complaints({ allocator, ...drawn })).toEqual([]);
    }), { numRuns: 150 });
  }, 30_000);
});
