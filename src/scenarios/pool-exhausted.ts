/**
 * pool-exhausted: PostgreSQL has no connection left to give, and the system has lost those it had (paper `001` §13.4: 连接池耗尽).
 *
 * Claim: messages wait in Kafka, nobody is refused for it and nothing is lost; when connections are free again the orders follow.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const poolExhaustedScenario: Scenario = {
  name: 'pool-exhausted',
  claim: 'Without a connection to PostgreSQL messages wait, and nothing is lost; the orders follow when there are connections again.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 12_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['pool-exhausted@mode=server,t=3s,s=4'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
