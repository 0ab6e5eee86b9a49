/**
 * disk-full: first the disk under the tables of PostgreSQL is full, then the disk under Kafka's log, which ends the broker. Needs root: the small disks are mounted.
 *
 * Claim: what cannot be written waits where it is; no promise is broken, and the sale goes on when there is space again.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const diskFull: Scenario = {
  name: 'disk-full',
  claim: 'With no space left under PostgreSQL, and then under Kafka, nothing is lost or written twice; the sale goes on when there is space.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 20_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: ['disk-full@server=postgres,t=2s,s=4', 'disk-full@server=kafka,t=9s,s=4'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 30_000 },
    { name: 'drained', bound: 40_000 },
  ],
};
