/**
 * redis-tail-loss: the machine of Redis dies and comes back without the last commands of its append-only file, all of them acknowledged (paper `004` §8; CASES C4).
 *
 * Claim: a Redis that has come back is trusted by nobody until it was rebuilt from orders and messages; no second order, nothing sold twice.
 */
import { DEFAULT_RECONCILER } from '../domain/reconciler-tuning.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const redisTailLossScenario: Scenario = {
  name: 'redis-tail-loss',
  claim: 'A Redis that comes back without its last writes is rebuilt from durable facts before anybody reserves again; nothing is sold twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 15_000 },
  roles: { ...USUAL_ROLES, reconciler: 1 },
  tuning: { reconciler: { ...DEFAULT_RECONCILER, drainPatienceMs: 8_000 } },
  faults: ['redis-tail-loss@t=4s,s=2,lose=50'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 30_000 },
    { name: 'drained', bound: 30_000 },
  ],
  shows: [{ figure: 'paused-answers', atLeast: 50 }, { figure: 'let-in-after-outage', atLeast: 300 }],
};
