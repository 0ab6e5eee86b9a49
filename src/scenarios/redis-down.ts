/**
 * redis-down: the roles cannot reach Redis for some seconds (paper `000` §7.11, §13.4).
 *
 * Claim: the gateway fails closed, promises nothing it cannot prove, and sells on when Redis is back.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const redisDown: Scenario = {
  name: 'redis-down',
  claim: 'Without Redis the gateway fails closed; what was reserved before is not lost, and the sale goes on when Redis is back.',
  stock: 20_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 300, durationMs: 15_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: ['redis-down@t=4s,s=5'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell', 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 10_000 },
    { name: 'drained', bound: 15_000 },
  ],
};
