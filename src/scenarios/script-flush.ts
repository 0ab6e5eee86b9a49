/**
 * script-flush: Redis forgets its scripts again and again (CASES C5).
 *
 * Claim: no client notices, and no call is made twice.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const scriptFlushScenario: Scenario = {
  name: 'script-flush',
  claim: 'Scripts that Redis has forgotten are brought again with the call that needs them; no client notices and nothing is reserved twice.',
  stock: 1_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 200, durationMs: 8_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['script-flush@t=1s,n=10,gap=400ms'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [{ name: 'drained', bound: 15_000 }],
};
