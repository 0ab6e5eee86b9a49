/**
 * kill-after-commit: the consumer dies after its transaction was committed and before it told Kafka so (papers `000` §13.4, `004` §13).
 *
 * Claim: the messages come again, the Inbox knows them, and each gives one order.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const killAfterCommit: Scenario = {
  name: 'kill-after-commit',
  claim: 'Messages that come again because the consumer died between its commit and the offset are known to the Inbox: one order each.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 12_000 },
  roles: USUAL_ROLES,
  tuning: { consumerSessionTimeoutMs: 1_500 },
  faults: ['kill-role@step=consumer.after-commit,hit=2,every=3,times=4'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
