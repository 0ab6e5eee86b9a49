/**
 * pg-outage: PostgreSQL is gone for half a minute in the middle of the sale (paper `000` §13.4, `001` §13.4).
 *
 * Claim: sales go on into Redis and Kafka, nothing is lost, and the orders follow when the database is back.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const pgOutage: Scenario = {
  name: 'pg-outage',
  claim: 'While PostgreSQL is away nothing is lost, and the orders follow when it is back.',
  stock: 4_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 200, durationMs: 36_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['pg-outage@t=2s,s=30'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
