/**
 * expiry-wave: thousands of orders that nobody pays run out within seconds (paper `001` §9.9), while the closer dies in the middle of it.
 *
 * Claim: every one is closed once, by its durable time; here the units are withdrawn from sale, and the books say so.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

export const expiryWave: Scenario = {
  name: 'expiry-wave',
  claim: 'Thousands of unpaid orders that run out at once are each closed once, though the closer dies meanwhile; their units leave the sale.',
  stock: 2_500,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 600,
    durationMs: 6_000,
    payers: { shares: { inTime: 0.1, late: 0, twice: 0, refund: 0, cancel: 0.02 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 100, afterMsMax: 1_000, lateAfterMsMin: 0, lateAfterMsMax: 0, callbackAfterMs: 50 },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: 6_000 },
  rules: { restockOnCancel: false, rebuyAfterCancel: false },
  faults: ['kill-role@step=closer.before-commit,hit=3,every=4,times=2', 'kill-role@step=closer.after-commit,hit=2,times=1'],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [{ figure: 'orders-timed-out', atLeast: 2_000 }],
};
