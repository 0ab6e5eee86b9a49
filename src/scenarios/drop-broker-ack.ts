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
  load: { ...USUAL_CLIENTS, ratePerSecond: 400, durationMs: 20_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: ['lose-produce-ack@t=1s,n=20'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 10_000 },
    { name: 'drained', bound: 15_000 },
  ],
};
