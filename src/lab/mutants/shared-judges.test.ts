/** A judge that no mutant of the system is caught by alone is shown to see by corrupted facts: some kind of corruption makes it say `violated`. */
import { expect, it } from 'vitest';

import type { Facts } from '../../facts/facts.js';
import { LIVES, REFUSED, ROW, TOKEN, WITHDRAWN } from '../../invariants/broken-world.test-support.js';
import { invariantNamed } from '../../invariants/registry.js';
import { DRAWN, PERMITTED, SHUT } from '../../invariants/worlds-at-the-door.test-support.js';
import { HISTORY_MUTANTS } from '../../mutants/history/registry.js';
import { judgeCorrupted } from '../judge-corrupted.js';
import { SHARED_JUDGES } from './shared-judges.js';

const WORLDS: readonly Facts[] = [TOKEN, ROW, LIVES, REFUSED, WITHDRAWN, DRAWN, PERMITTED, SHUT];

it('each of them says violated of some corrupted facts', () => {
  const judges = Object.keys(SHARED_JUDGES).flatMap((name) => invariantNamed(name) ?? []);
  const cases = WORLDS.flatMap((world) => judgeCorrupted(world, judges, HISTORY_MUTANTS, { seed: 1, repeats: 1 }, () => 0).cases);
  const seen = new Set(cases.flatMap(({ violated }) => violated));
  expect(Object.keys(SHARED_JUDGES).filter((name) => !seen.has(name))).toEqual([]);
});
