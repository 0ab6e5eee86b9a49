/**
 * stock-of-one: ten thousand users and a single unit (paper `000` §13.2).
 *
 * Claim: exactly one of them gets it.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const stockOfOne: Scenario = {
  name: 'stock-of-one',
  claim: 'Of ten thousand users exactly one gets the only unit.',
  stock: 1,
  load: { ...USUAL_CLIENTS, shape: { kind: 'constant' }, ratePerSecond: 2_000, durationMs: 5_000, mix: { ...USUAL_CLIENTS.mix, repeatShare: 0 } },
  roles: USUAL_ROLES,
  tuning: {},
  faults: [],
  settleBoundMs: 20_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [{ name: 'drained', bound: 10_000 }],
};
