/**
 * restart-everything: every process of the system is killed at once while orders are unpaid, twice (paper `004` §10).
 *
 * Claim: nothing lives in a process alone: payments, expiries and messages go on from what the stores hold.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, ROUGH_ANSWERS, ROUGH_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

export const restartEverything: Scenario = {
  name: 'restart-everything',
  claim: 'With every process killed at once and orders unpaid, each order still ends paid or closed, and nothing is lost.',
  stock: 20_000,
  load: {
    ...USUAL_CLIENTS,
    // Fifty seconds: eight processes that start at once on two cores need some ten until all are healthy, and all have to be before they are killed again.
    // Thirty a second: some hundred and fifty are unpaid at any moment; with twenty it was about the hundred that it has to show, and 94 once.
    ratePerSecond: 30,
    durationMs: 50_000,
    requestTimeoutMs: 2_000,
    pollsMax: 40,
    payers: {
      shares: { inTime: 0.5, late: 0.1, twice: 0.05, refund: 0.05, cancel: 0.1 }, channel: ROUGH_CHANNEL, answers: ROUGH_ANSWERS, afterMsMin: 500, afterMsMax: 5_000, lateAfterMsMin: 9_000, lateAfterMsMax: 11_000, callbackAfterMs: 100,
    },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: 8_000, paymentQueryAfterMs: 500, resendAfterMs: 500 },
  faults: ['restart-everything@t=12s,times=2,gap=5s'],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [{ figure: 'orders-carried-over', atLeast: 100 }],
};
