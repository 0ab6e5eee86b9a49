/**
 * sold-out-reopens: everything is reserved in two seconds, half of it is never paid, and the units come back while others still ask (papers `000` §10.1, `004` §9).
 *
 * Claim: sold out is said for as long as it is true and not longer: returned units are sold, also to those who let one go before.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, funnelWith, type Scenario } from './scenario.js';

export const soldOutReopens: Scenario = {
  name: 'sold-out-reopens',
  claim: 'Units that come back after "sold out" are sold again, also to who let one go, and no client heard a "final" that was not.',
  stock: 200,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 100,
    durationMs: 16_000,
    mix: { ...USUAL_CLIENTS.mix, sameUserShare: 0.2 },
    pollsMax: 30,
    payers: {
      shares: { inTime: 0.4, late: 0, twice: 0, refund: 0.05, cancel: 0.15 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 200, afterMsMax: 2_000, lateAfterMsMin: 0, lateAfterMsMax: 0, callbackAfterMs: 50,
    },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: 3_000, funnel: funnelWith(['sold-out-mark']) },
  rules: { restockOnCancel: true, rebuyAfterCancel: true },
  faults: [],
  settleBoundMs: 90_000,
  invariants: [...LIFE_INVARIANTS, 'no-undersell'],
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [{ figure: 'temp-sold-out-answers', atLeast: 100 }, { figure: 'orders-beyond-stock', atLeast: 40 }, { figure: 'second-purchases', atLeast: 10 }],
};
