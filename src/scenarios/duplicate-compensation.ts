/**
 * duplicate-compensation: releases and compensations that are done come again, round after round (papers `000` §9.4, `001` §8.2).
 *
 * Claim: a unit is given back to Redis once per reservation, whatever is repeated.
 */
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

export const duplicateCompensation: Scenario = {
  name: 'duplicate-compensation',
  claim: 'Releases and compensations delivered again and again give each unit back once.',
  stock: 400,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 60,
    durationMs: 20_000,
    payers: {
      shares: { inTime: 0.3, late: 0.1, twice: 0.1, refund: 0.1, cancel: 0.2 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 100, afterMsMax: 1_000, lateAfterMsMin: 3_000, lateAfterMsMax: 4_000, callbackAfterMs: 50,
    },
  },
  roles: LIFE_ROLES,
  tuning: { paymentWindowMs: 3_000 },
  faults: ['duplicate-compensation@t=7s,n=500,rounds=2,gap=1s'],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
  shows: [{ figure: 'units-released', atLeast: 300 }],
};
