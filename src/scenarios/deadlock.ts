/**
 * deadlock: a report, or a repair by hand, takes tables in the opposite order, and the database ends the consumer's transaction (paper `001` §13.4: 人工构造死锁).
 *
 * Claim: the transaction that was ended is carried out again, whole, and nothing of it twice.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const deadlockScenario: Scenario = {
  name: 'deadlock',
  claim: 'A transaction that the database ends because of a deadlock is carried out again, whole and once.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 14_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['deadlock@t=2s,n=4,gap=500ms'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
