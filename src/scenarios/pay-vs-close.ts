/**
 * pay-vs-close: payments and the end of the payment window meet, order by order (paper `001` §9.9–9.10, `004` §6; CASES on paying and closing at once).
 *
 * Claim: whichever comes first wins, once; money that comes after the end goes back, and a paid order is never closed.
 *
 * Ten orders a second, and not more: an order with its payment and its end is some seventy round trips to PostgreSQL, and on two cores a faster storm would only fill
 * the payment role's queue, so that every payment came long after the end that it should meet (measured: at 20 a second 122 of 1,300 met it).
 */
import { LIFE_INVARIANTS, LIFE_ROLES, ROUGH_ANSWERS, ROUGH_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

const PAYMENT_WINDOW_MS = 5_000;

export const payVsClose: Scenario = {
  name: 'pay-vs-close',
  claim: 'Payment and expiry of over a thousand orders meet: one of the two wins each time, and money that comes too late goes back.',
  stock: 20_000,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 10,
    durationMs: 130_000,
    mix: { ...USUAL_CLIENTS.mix, repeatShare: 0.02 },
    pollIntervalMs: 300,
    pollsMax: 40,
    payers: {
      shares: { inTime: 0.03, late: 0.9, twice: 0.01, refund: 0.01, cancel: 0.03 },
      channel: ROUGH_CHANNEL,
      answers: ROUGH_ANSWERS,
      afterMsMin: 100,
      afterMsMax: 1_500,
      // A client hears of its order some 300 ms after it was made, and the closer comes some 200 ms after the end: half of the money comes before it.
      lateAfterMsMin: PAYMENT_WINDOW_MS - 650,
      lateAfterMsMax: PAYMENT_WINDOW_MS + 100,
      callbackAfterMs: 50,
    },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: PAYMENT_WINDOW_MS, paymentQueryAfterMs: 3_000 },
  faults: [],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [
    { figure: 'races', atLeast: 1_000 }, { figure: 'races-won-by-payment', atLeast: 200 }, { figure: 'races-won-by-end', atLeast: 200 }, { figure: 'late-money-returned', atLeast: 200 },
  ],
};
