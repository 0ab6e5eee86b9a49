/**
 * row-lock: somebody holds every unit that is for sale, in the middle of the sale, and does not let go (paper `001` §13.4: 行锁长时间持有; CASES C29).
 *
 * Claim: a unit that is locked is not taken for sold: messages wait, and become orders when the lock is gone.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const rowLock: Scenario = {
  name: 'row-lock',
  claim: 'While somebody holds every unit that is for sale, nobody is told that it is sold; the orders follow when the lock is gone.',
  stock: 3_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 10_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['row-lock@rows=tokens,t=3s,s=4'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
