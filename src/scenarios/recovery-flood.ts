/**
 * recovery-flood: everybody who had to wait comes at the moment the database is back (paper `004` §10: "no second flood").
 *
 * Claim: admission lets them in by growing batches, so that the oldest message stays within its age bound and the database is not put down again.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

export const recoveryFlood: Scenario = {
  name: 'recovery-flood',
  claim: 'The flood that comes with the recovery is let in by growing batches and makes no second outage.',
  stock: 20_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 1_200, durationMs: 18_000, shape: { kind: 'spike', baseShare: 0.15, fromMs: 9_500, toMs: 13_000 } },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500, funnel: funnelWith(['admission-limit']) },
  faults: ['pg-outage@t=3s,s=7'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'admission-bounded'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 25_000 },
  ],
  shows: [{ figure: 'turned-away-by-admission', atLeast: 200 }, { figure: 'let-in-again', atLeast: 200 }],
};
