/** The judges see: whatever is made untrue in the facts of a good run is noticed, and what is legal is not. In milliseconds, without a server. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Facts } from '../facts/facts.js';
import { LIVES, REFUSED, ROW, TOKEN, WITHDRAWN, WITHDRAWN_ROW } from '../invariants/broken-world.test-support.js';
import { handWrittenFacts } from '../invariants/hand-written-facts.test-support.js';
import type { Invariant } from '../invariants/invariant.js';
import { INVARIANTS } from '../invariants/registry.js';
import { DRAWN, PERMITTED } from '../invariants/worlds-at-the-door.test-support.js';
import type { HistoryMutant } from '../mutants/history/history-mutant.js';
import { HISTORY_MUTANTS } from '../mutants/history/registry.js';
import { judgeCorrupted } from './judge-corrupted.js';

const WORLDS: readonly (readonly [string, Facts])[] = [
  ['tokens', TOKEN], ['row stock', ROW], ['every life', LIVES], ['refusals', REFUSED], ['withdrawn tokens', WITHDRAWN], ['withdrawn row stock', WITHDRAWN_ROW],
  ['draws', DRAWN], ['permits', PERMITTED],
];

/** The hand-written worlds have no commits of a relay; the end-to-end test of `check --corrupt` has. */
const OF_REAL_RUNS = new Set(['drop-relay-mark']);

const problemsIn = (facts: Facts, mutants: readonly HistoryMutant[], seed: number, judges: readonly Invariant[] = INVARIANTS): string[] =>
  judgeCorrupted(facts, judges, mutants, { seed, repeats: 1 }, () => 0).cases.flatMap((each) => (each.problem === '' ? [] : [`${each.mutant} ×${String(each.magnitude)}: ${each.problem} (${[...each.violated, ...each.unknown].join()})`]));

describe('corrupted facts', () => {
  it.each(WORLDS)('of the world with %s: each kind is judged as declared, from its least magnitude up', (_, world) => {
    expect(problemsIn(world, HISTORY_MUTANTS, 1)).toEqual([]);
  });

  it('leave no kind untried: each applies to one of the worlds', () => {
    const tried = new Set(WORLDS.flatMap(([, world]) => judgeCorrupted(world, [], HISTORY_MUTANTS, { seed: 1, repeats: 1 }, () => 0).cases.map((each) => each.mutant)));
    expect(HISTORY_MUTANTS.map((mutant) => mutant.name).filter((name) => !tried.has(name) && !OF_REAL_RUNS.has(name))).toEqual([]);
  });

  it('of any world are noticed, whichever row it is', () => {
    const share = fc.double({ min: 0, max: 0.2, noNaN: true });
    const world = fc.record({
      allocator: fc.constantFrom('token' as const, 'row' as const), seed: fc.integer({ min: 1, max: 1_000_000 }), arrivals: fc.integer({ min: 20, max: 60 }), stock: fc.integer({ min: 5, max: 30 }),
      fates: fc.record({ cancelled: share, expired: share, paid: share, rejected: share, refunded: share }),
      rules: fc.record({ restockOnCancel: fc.boolean(), rebuyAfterCancel: fc.boolean() }), endsAfterUs: fc.integer({ min: 200_000, max: 2_000_000 }),
    });
    fc.assert(fc.property(world, fc.constantFrom(...HISTORY_MUTANTS), fc.integer({ min: 1, max: 1_000_000 }), (options, mutant, seed) => {
      expect(problemsIn(handWrittenFacts(options), [mutant], seed)).toEqual([]);
    }), { numRuns: 200 });
  });

  it('go unnoticed by a judge that is gone: the test can fail', () => {
    const blind = INVARIANTS.filter((judge) => judge.name !== 'redis-conservation');
    expect(problemsIn(TOKEN, HISTORY_MUTANTS.filter((mutant) => mutant.name === 'redis-stock-up'), 1, blind)).not.toEqual([]);
  });

  it('are refused when the facts are not good to begin with', () => {
    expect(() => problemsIn({ ...TOKEN, redis: { present: false, reason: 'gone' } }, HISTORY_MUTANTS, 1)).toThrow('says unknown of the facts as they are');
  });
});
