/** Small runs in which orders are paid, cancelled, given back and run out, and messages end as dead letters. */
import { LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_ROLES } from '../../scenarios/scenario.js';
import { smallRun } from './small-run.js';

const PAYERS = {
  shares: { inTime: 0.35, late: 0.2, twice: 0, refund: 0, cancel: 0.25 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 50, afterMsMax: 300,
  lateAfterMsMin: 2_500, lateAfterMsMax: 3_500, callbackAfterMs: 50,
} as const;

/** Every order has its timer, whatever has become of it by then. */
export const shortLives = smallRun({
  name: 'short-lives',
  claim: 'Orders that live two seconds are paid, cancelled or run out: one of the three, once.',
  strategies: { allocator: 'row' },
  roles: LIFE_ROLES,
  load: { ratePerSecond: 40, durationMs: 1_500, pollsMax: 30, payers: PAYERS },
  tuning: { paymentWindowMs: 2_000, closerSweepIntervalMs: 200, closerSweepGraceMs: 500 },
  stock: 80,
});

export const repeatedReleases = smallRun({
  name: 'repeated-releases',
  claim: 'Releases that are delivered again give each unit back once.',
  roles: LIFE_ROLES,
  load: { ratePerSecond: 20, durationMs: 3_500, pollsMax: 30, payers: { ...PAYERS, shares: { ...PAYERS.shares, cancel: 0.6, inTime: 0.2, late: 0 } } },
  tuning: { paymentWindowMs: 2_000, closerSweepIntervalMs: 200, closerSweepGraceMs: 500 },
  stock: 100,
  faults: ['duplicate-compensation@t=3s,n=200,rounds=1'],
});

/** Half of all clients come back for another; who has cancelled gets one. */
export const secondChances = smallRun({
  name: 'second-chances',
  claim: 'Who let his unit go may buy again, and whoever has one may not.',
  roles: LIFE_ROLES,
  rules: { restockOnCancel: true, rebuyAfterCancel: true },
  load: {
    ratePerSecond: 40, durationMs: 3_000, pollsMax: 30, mix: { repeatShare: 0, sameUserShare: 0.5, conflictShare: 0, malformedShare: 0, distinctUsers: null },
    payers: { ...PAYERS, shares: { ...PAYERS.shares, cancel: 0.6, inTime: 0.2, late: 0 } },
  },
  tuning: { paymentWindowMs: 1_500, closerSweepIntervalMs: 200, closerSweepGraceMs: 500 },
  stock: 150,
});

/** Half of the money comes for orders that are given back afterwards, and a part when the order has ended. */
export const moneyGoesBack = smallRun({
  name: 'money-goes-back',
  claim: 'Money of orders that were given back, or that came too late, is paid back by the channel, once.',
  roles: LIFE_ROLES,
  load: { ratePerSecond: 40, durationMs: 1_500, pollsMax: 30, payers: { ...PAYERS, shares: { ...PAYERS.shares, inTime: 0.2, refund: 0.5, late: 0.2, cancel: 0 } } },
  tuning: { paymentWindowMs: 2_000, closerSweepIntervalMs: 200, closerSweepGraceMs: 500 },
  stock: 80,
});

export const poisonInSmall = smallRun({
  name: 'poison-in-small',
  claim: 'Messages that nobody can work off are kept with their cause, and nobody waits for them.',
  roles: { ...USUAL_ROLES, undertaker: 1 },
  faults: ['poison-messages@t=300ms,n=4'],
});
