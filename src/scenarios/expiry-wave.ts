/**
 * expiry-wave: thousands of orders that nobody pays run out within seconds (paper `001` §9.9), while the closer dies in the middle of it.
 *
 * Claim: every one is closed once, by its durable time; here the units are withdrawn from sale, and the books say so, although retention takes away what is old meanwhile.
 *
 * Buyers come for sixteen seconds and have sixteen to pay, so the wave begins when they are through; a few come meanwhile, since faults strike while the storm blows.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

const PAYMENT_WINDOW_MS = 16_000;

export const expiryWave: Scenario = {
  name: 'expiry-wave',
  claim: 'Thousands of unpaid orders that run out at once are each closed once, though the closer dies meanwhile; their units leave the sale.',
  stock: 4_000,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 160,
    durationMs: 38_000,
    shape: { kind: 'spike', baseShare: 0.02, fromMs: 0, toMs: PAYMENT_WINDOW_MS },
    mix: { ...USUAL_CLIENTS.mix, repeatShare: 0.02 },
    payers: { shares: { inTime: 0.05, late: 0, twice: 0, refund: 0, cancel: 0.02 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 100, afterMsMax: 1_000, lateAfterMsMin: 0, lateAfterMsMax: 0, callbackAfterMs: 50 },
  },
  roles: { ...LIFE_ROLES, retention: 1 },
  tuning: {
    paymentWindowMs: PAYMENT_WINDOW_MS,
    // Everything that decides how long rows are needed, in seconds where production has days. The topics themselves are kept: they are evidence.
    reservationTtlMs: 10_000, recoveryDeadlineMs: 11_000, logRetentionMs: 11_000, inboxRetentionMs: 12_000, outboxArchiveAfterMs: 4_000, callbackArchiveAfterMs: PAYMENT_WINDOW_MS + 1_000,
    retentionIntervalMs: 500,
  },
  rules: { restockOnCancel: false, rebuyAfterCancel: false },
  faults: ['kill-role@step=closer.before-commit,hit=3,every=4,times=2', 'kill-role@step=closer.after-commit,hit=2,times=1'],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [
    { figure: 'orders-timed-out', atLeast: 2_000 }, { figure: 'inbox-rows-trimmed', atLeast: 1_000 }, { figure: 'events-archived', atLeast: 2_000 }, { figure: 'callbacks-archived', atLeast: 20 },
  ],
};
