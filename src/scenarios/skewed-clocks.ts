/**
 * skewed-clocks: of two gateways one is a minute ahead and the other forty seconds behind, and the consumer is a minute behind, while reservations live for
 * a minute and a half and unpaid orders for ten seconds (CASES C14). Scanner, relay, closer and reconciler ask the stores what time it is; they have no clock to be off.
 *
 * Claim: a lease or an expiry is judged by the clock that wrote it: nothing is released before its time, no living lease is stolen, nobody pays for nothing.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

export const skewedClocks: Scenario = {
  name: 'skewed-clocks',
  claim: 'With the clocks of gateways and consumer up to a minute off, each in its own way, no reservation and no order ends before its time.',
  stock: 5_000,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 60,
    durationMs: 12_000,
    payers: { shares: { inTime: 0.5, late: 0, twice: 0, refund: 0, cancel: 0.1 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 200, afterMsMax: 4_000, lateAfterMsMin: 0, lateAfterMsMax: 0, callbackAfterMs: 100 },
  },
  roles: { ...LIFE_ROLES, gateway: 2 },
  tuning: { resendAfterMs: 500, reservationTtlMs: 90_000, paymentWindowMs: 10_000 },
  faults: ['clock-skew@role=gateway-1,by=+60s', 'clock-skew@role=gateway-2,by=-40s', 'clock-skew@role=consumer,by=-60s', 'cut-at-step@step=gateway.before-send,link=gateway-kafka,stream=upstream,hit=40,every=60,times=4'],
  settleBoundMs: 60_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 40_000 }],
};
