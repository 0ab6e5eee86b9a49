/**
 * database-neglected: a forgotten transaction keeps dead rows from being removed, and archiving WAL segments fails (paper `001` §13.4: Autovacuum 延迟, WAL 归档失败).
 *
 * Claim: neither makes an order wrong or late; both are seen in the database's own figures, and both are over when their cause is.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const databaseNeglected: Scenario = {
  name: 'database-neglected',
  claim: 'While dead rows cannot be removed and WAL segments cannot be archived, no order is wrong or late.',
  stock: 3_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 200, durationMs: 10_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['autovacuum-starved@t=1s,s=7,rows=200', 'archive-failing@t=2s,s=5'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [{ name: 'drained', bound: 20_000 }],
};
