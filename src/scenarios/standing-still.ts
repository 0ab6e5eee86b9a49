/**
 * standing-still: processes and servers that stop for seconds and wake up as if nothing had happened: a long pause for garbage, a machine that swaps, a frozen
 * container (CASES C13). Longer than sessions and leases, so that others take over what the sleeper still believes to be his.
 *
 * Claim: who wakes up does nothing that others have done meanwhile, and nobody waits for ever for one who sleeps.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const standingStill: Scenario = {
  name: 'standing-still',
  claim: 'Processes and servers that stand still past every lease and wake up as if nothing had happened lose nothing and do nothing twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 100, durationMs: 47_000 },
  roles: { ...USUAL_ROLES, gateway: 2, consumer: 2 },
  tuning: { resendAfterMs: 500 },
  faults: [
    // A consumer is missed for six seconds before its partitions go to the other.
    'freeze-role@role=consumer-1,t=2s,s=8',
    'freeze-role@role=gateway-1,t=12s,s=2', 'freeze-role@role=scanner-1,t=12s,s=5', 'freeze-role@role=relay-1,t=12s,s=5',
    'freeze-role@role=projector-1,t=18s,s=8',
    'redis-down@t=27s,s=5,mode=freeze', 'broker-outage@t=34s,s=4,mode=freeze', 'pg-outage@t=40s,s=4,mode=freeze',
  ],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell', 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 25_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
