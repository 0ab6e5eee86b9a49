/**
 * drop-broker-ack: the broker stores a message and its answer never arrives (paper `000` §7.8, CASES C17).
 *
 * Claim: an unknown send is resent under the same message id; the topic holds duplicates and the orders do not.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const dropBrokerAck: Scenario = {
  name: 'drop-broker-ack',
  claim: 'A send whose answer was lost is resent under the same message id: the topic holds duplicates, the orders do not.',
  stock: 20_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 300, durationMs: 40_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 400, scannerIntervalMs: 50 },
  // A quick consumer would have made the order before the resend is due, and nothing would show what the Inbox is for: so PostgreSQL is slow meanwhile.
  faults: ['lose-produce-ack@t=1s,n=20', 'link-toxic@link=consumer-postgres,type=latency,latency=30ms,t=500ms,s=28'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 10_000 },
    { name: 'drained', bound: 15_000 },
  ],
};
