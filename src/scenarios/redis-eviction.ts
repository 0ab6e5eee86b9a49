/**
 * redis-eviction: under a wrong eviction policy Redis runs full and throws keys of the sale away without a word (CASES C9).
 *
 * Claim: PostgreSQL still gives nobody a second order and sells nothing twice, and the reconciler puts Redis right.
 */
import { DEFAULT_RECONCILER } from '../domain/reconciler-tuning.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const redisEvictionScenario: Scenario = {
  name: 'redis-eviction',
  claim: 'When Redis has thrown keys of the sale away, nobody gets a second order, nothing is sold twice, and the ledgers are made to agree again.',
  stock: 8_000,
  // No repeats: who repeats a request whose record was thrown away may be given a second reservation before the repair.
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 15_000, mix: { ...USUAL_CLIENTS.mix, repeatShare: 0, sameUserShare: 0.05 } },
  roles: { ...USUAL_ROLES, reconciler: 1 },
  tuning: { reconciler: { ...DEFAULT_RECONCILER, graceMs: 3_000, passIntervalMs: 2_000 } },
  faults: ['redis-eviction@t=5s'],
  settleBoundMs: 60_000,
  invariants: SAFETY_INVARIANTS,
  serviceLevels: [
    { name: 'recovery-time', bound: 40_000 },
    { name: 'drained', bound: 40_000 },
  ],
};
