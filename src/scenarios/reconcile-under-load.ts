/**
 * reconcile-under-load: while buyers come, somebody changes Redis by hand in seven ways: lost and damaged records, states set back, units given back that are
 * held, marks taken away and made up, a stock that is off (paper `004` §12; CASES C9). The reconciler is killed in the middle of its repairs.
 *
 * Claim: each difference is found by its id and repaired once, and nothing is repaired that was only on its way.
 */
import { DEFAULT_RECONCILER } from '../domain/reconciler-tuning.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const reconcileUnderLoad: Scenario = {
  name: 'reconcile-under-load',
  claim: 'Differences between Redis, the topic and PostgreSQL are found id by id and repaired once, while the sale goes on.',
  stock: 20_000,
  // No repeats: who repeats a request whose record was taken out of Redis by hand may be given a second reservation before the repair.
  load: { ...USUAL_CLIENTS, ratePerSecond: 200, durationMs: 25_000, mix: { ...USUAL_CLIENTS.mix, repeatShare: 0 } },
  roles: { ...USUAL_ROLES, reconciler: 1 },
  tuning: { reconciler: { ...DEFAULT_RECONCILER, graceMs: 3_000, passIntervalMs: 2_000 } },
  faults: ['tamper-redis@kind=all,n=10,t=5s', 'kill-role@step=reconciler.after-adjust,hit=5,times=1'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 20_000 },
  ],
  shows: [{ figure: 'repairs', atLeast: 40 }],
};
