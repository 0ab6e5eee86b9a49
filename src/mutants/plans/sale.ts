/** Small runs of a sale in which nothing is broken: what is wrong by design shows by itself. */
import { funnelWith, USUAL_ROLES } from '../../scenarios/scenario.js';
import { ALL_JUDGES, smallRun } from './small-run.js';

export const plainSale = smallRun({
  name: 'plain-sale',
  claim: 'A small sale, sold out within its second and a half.',
});

/** Few users and many requests: most of them belong to somebody who has his unit. */
export const oneUserBurst = smallRun({
  name: 'one-user-burst',
  claim: 'Eighty users press the button again and again, with old and with new request ids; each gets one unit.',
  load: { mix: { repeatShare: 0.3, sameUserShare: 0.2, conflictShare: 0, malformedShare: 0, distinctUsers: 80 } },
});

/** A transaction per message, eight of them at once: whoever looks before he writes is overtaken. */
export const crowdedToken = smallRun({
  name: 'crowded-token',
  claim: 'Eight transactions at a time take tokens, and no unit is taken twice.',
  strategies: { consumer: 'single', allocator: 'token' },
  load: { ratePerSecond: 200, durationMs: 1_000 },
  stock: 150,
});

export const crowdedRow = smallRun({
  name: 'crowded-row',
  claim: 'Eight transactions at a time take units from one row, and every unit is sold.',
  strategies: { consumer: 'single', allocator: 'row' },
  load: { ratePerSecond: 200, durationMs: 1_000 },
  stock: 150,
});

/**
 * One user who presses again and again, and two consumers. A consumer asks the broker again when it has done what it was given, and the first message comes
 * alone: with one consumer the user had his order before a second message was looked at, in one run of ten.
 */
export const oneUserTwoConsumers = smallRun({
  name: 'one-user-two-consumers',
  claim: 'A user with twenty requests, worked on by two consumers, gets one unit.',
  strategies: { consumer: 'single', allocator: 'token' },
  roles: { ...USUAL_ROLES, consumer: 2 },
  load: { ratePerSecond: 40, durationMs: 500, mix: { repeatShare: 0, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: 1 } },
  stock: 300,
});

/** Two trips to Redis are a window of a tenth of a second, in which half of the early requests have a copy. */
export const slowRedis = smallRun({
  name: 'slow-redis',
  claim: 'Redis answers late, and copies of one request that meet there get one answer.',
  load: { ratePerSecond: 150, durationMs: 1_500, mix: { repeatShare: 0.5, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: null } },
  faults: ['link-toxic@link=gateway-redis,type=latency,latency=80,t=0s,s=2'],
});

export const retentionAtWork = smallRun({
  name: 'retention-at-work',
  claim: 'Retention runs all the time and deletes nothing that can still be needed.',
  roles: { ...USUAL_ROLES, retention: 1 },
  tuning: { logRetentionMs: 86_400_000, retentionIntervalMs: 200 },
});

/** Transactions of many orders: a batch in the ledger is more than one entry. */
export const batchedRow = smallRun({
  name: 'batched-row',
  claim: 'Batches take units from one row, and each unit has its own place in the ledger.',
  strategies: { consumer: 'batch:50', allocator: 'row' },
  load: { ratePerSecond: 200, durationMs: 1_000 },
});

export const permitsShown = smallRun({
  name: 'permits-shown',
  claim: 'Buyers show permits to two gateways, bots show what they have, and each permit is spent once in the book that both share.',
  roles: { ...USUAL_ROLES, gateway: 2 },
  load: { permits: { validForMs: 600_000, bots: { noPermit: 0.1, forgedPermit: 0.05, expiredPermit: 0.05, replayedPermit: 0.1, devices: 5 } } },
  tuning: { funnel: funnelWith(['permit']) },
  invariants: [...ALL_JUDGES, 'permit-once'],
});
