/**
 * broker-outage: Kafka is gone for some seconds in the middle of the sale (papers `000` §13.4, `004` §10).
 *
 * Claim: the breaker opens and nothing new is reserved; what was reserved before stays pending and is sent when the broker is back, and new buyers are let in again.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

export const brokerOutage: Scenario = {
  name: 'broker-outage',
  claim: 'Without the broker the breaker stops new reservations, nothing that was reserved before is lost, and when it is back the sale goes on.',
  stock: 20_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 300, durationMs: 15_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500, funnel: funnelWith(['breaker'], { breaker: { failures: 5, openMs: 500 } }) },
  faults: ['broker-outage@t=4s,s=6'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
  // Five seconds are left after the outage.
  shows: [{ figure: 'turned-away-by-breaker', atLeast: 300 }, { figure: 'let-in-after-outage', atLeast: 700 }],
};
