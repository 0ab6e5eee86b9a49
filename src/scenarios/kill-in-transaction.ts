/**
 * kill-in-transaction: the consumer dies in the middle of its transaction, right after the units were taken from the stock (papers `000` §13.4, `001` §13.4).
 *
 * Claim: the database takes back what was half done, the message comes again, and no unit is gone.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const killInTransaction: Scenario = {
  name: 'kill-in-transaction',
  claim: 'A consumer that dies right after it took the units, before it committed, leaves nothing behind; the message comes again and becomes the order.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 12_000 },
  roles: USUAL_ROLES,
  tuning: { consumerSessionTimeoutMs: 1_500 },
  faults: ['kill-role@step=consumer.after-allocate,hit=2,every=3,times=4'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
