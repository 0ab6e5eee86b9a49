/** Small runs of a sale in which nothing is broken: what is wrong by design shows by itself. */
import { USUAL_ROLES } from '../../scenarios/scenario.js';
import { smallRun } from './small-run.js';

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
  load: { ratePerSecond: 400, durationMs: 1_000 },
  stock: 300,
});

export const crowdedRow = smallRun({
  name: 'crowded-row',
  claim: 'Eight transactions at a time take units from one row, and every unit is sold.',
  strategies: { consumer: 'single', allocator: 'row' },
  load: { ratePerSecond: 400, durationMs: 1_000 },
  stock: 300,
});

/** Four users who press again and again: every eight messages in a row hold each of them twice. */
export const fewUsers = smallRun({
  name: 'few-users',
  claim: 'Four users with a hundred requests each get one unit each.',
  strategies: { consumer: 'single', allocator: 'token' },
  load: { ratePerSecond: 400, durationMs: 1_000, mix: { repeatShare: 0, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: 4 } },
  stock: 300,
});

export const retentionAtWork = smallRun({
  name: 'retention-at-work',
  claim: 'Retention runs all the time and deletes nothing that can still be needed.',
  roles: { ...USUAL_ROLES, retention: 1 },
  tuning: { logRetentionMs: 86_400_000, retentionIntervalMs: 200 },
});
