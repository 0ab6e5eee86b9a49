/**
 * bots: half of all arrivals are bots with no permit, a forged one, one that is over, or one that was shown before, from a handful of devices (papers `000` §10.1,
 * `004` §2).
 *
 * Three hundred a second: at a thousand one gateway on two cores refuses people by the thousand for want of time (measured: 3,493 of 7,893), and nobody buys as if alone.
 *
 * Claim: they get nothing and eat no stock; people with a permit buy as if they were alone: none of them is told that his permit is none (`permit-once`), and none to slow
 * down.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

export const bots: Scenario = {
  name: 'bots',
  claim: 'Bots without a good permit get nothing and eat no stock; everyone else buys as if they were alone.',
  stock: 500,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 300,
    durationMs: 12_000,
    permits: { validForMs: 600_000, bots: { noPermit: 0.3, forgedPermit: 0.1, expiredPermit: 0.05, replayedPermit: 0.05, devices: 20 } },
  },
  roles: USUAL_ROLES,
  tuning: { funnel: funnelWith(['permit', 'user-bucket', 'device-bucket']) },
  faults: [],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell', 'permit-once'],
  serviceLevels: [{ name: 'drained', bound: 10_000 }],
  shows: [{ figure: 'turned-away-by-permit', atLeast: 1_000 }, { figure: 'orders', atLeast: 500 }, { figure: 'people-limited', atLeast: 0, atMost: 0 }],
};
