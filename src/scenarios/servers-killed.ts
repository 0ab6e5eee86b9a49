/**
 * servers-killed: PostgreSQL and then Kafka are killed like by a loss of power, and started again on what they had written (papers `000` §13.4, `004` §10).
 *
 * Claim: what was acknowledged is there again, and the rest is made up for.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const serversKilled: Scenario = {
  name: 'servers-killed',
  claim: 'PostgreSQL and Kafka are killed one after the other and come back with all that they had acknowledged; nothing is lost or made twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 22_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: ['pg-outage@t=3s,s=4,mode=kill', 'broker-outage@t=12s,s=4,mode=kill'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
