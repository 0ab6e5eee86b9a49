/**
 * pay-vs-close: payments and the end of the payment window meet, order by order (paper `001` §9.9–9.10, `004` §6; CASES on paying and closing at once).
 *
 * Claim: whichever comes first wins, once; money that comes after the end goes back, and a paid order is never closed.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, ROUGH_ANSWERS, ROUGH_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

const PAYMENT_WINDOW_MS = 5_000;

export const payVsClose: Scenario = {
  name: 'pay-vs-close',
  claim: 'Payment and expiry of over a thousand orders meet: one of the two wins each time, and money that comes too late goes back.',
  stock: 20_000,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 65,
    durationMs: 20_000,
    pollIntervalMs: 200,
    pollsMax: 40,
    payers: {
      shares: { inTime: 0.15, late: 0.55, twice: 0.05, refund: 0.05, cancel: 0.1 },
      channel: ROUGH_CHANNEL,
      answers: ROUGH_ANSWERS,
      afterMsMin: 100,
      afterMsMax: 1_500,
      // A client hears of its order some 200 ms after it was made, and money takes its time: around the end of the window, before and after it.
      lateAfterMsMin: PAYMENT_WINDOW_MS - 700,
      lateAfterMsMax: PAYMENT_WINDOW_MS + 300,
      callbackAfterMs: 50,
    },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: PAYMENT_WINDOW_MS, paymentQueryAfterMs: 500 },
  faults: [],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
};
