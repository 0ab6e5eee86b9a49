/**
 * kill-before-outbox-mark: the relay dies after it has sent events and before it has marked them as sent (paper `001` §13.4; CASES C33).
 *
 * Claim: the events are sent again, and whoever reads them takes each for one.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const killBeforeOutboxMark: Scenario = {
  name: 'kill-before-outbox-mark',
  claim: 'Events that were sent by a relay that died before marking them are sent again, and nothing happens twice by it.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 12_000 },
  roles: USUAL_ROLES,
  tuning: { leaseMs: 1_000 },
  faults: ['kill-role@step=relay.after-send,hit=2,every=2,times=3'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};
