/**
 * servers-cut-off: Redis, PostgreSQL and Kafka are cut off from the network one after the other, as by a switch that fails: nothing arrives, nobody is refused, and
 * connections look open to both sides. What was under way may still arrive when the way is open again.
 *
 * Claim: every call ends by its own deadline, and what comes late or is sent again is done once.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const serversCutOff: Scenario = {
  name: 'servers-cut-off',
  claim: 'Redis, PostgreSQL and Kafka are cut off from the network one after the other; every call ends by its own deadline, and nothing is lost or done twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 120, durationMs: 27_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: ['redis-down@t=2s,s=5,mode=unplug', 'pg-outage@t=10s,s=5,mode=unplug', 'broker-outage@t=18s,s=5,mode=unplug'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell', 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 25_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
