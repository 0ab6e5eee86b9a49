/**
 * redis-failover: the primary of Redis dies in the middle of the sale, and the replica that takes over lacks the last five hundred reservations and more,
 * all of them acknowledged (papers `000` §15, `004` §10–§12; CASES C4). For a part of that time the gateway cannot reach the broker either, so some of what
 * is lost had been told to clients and stands nowhere else. There are fewer units than buyers, and one arrival in five is somebody who has asked before: whoever is
 * forgotten would be sold to again.
 *
 * Claim: admission pauses, Redis is rebuilt from orders and messages, and the sale goes on in steps; nobody gets a second order, nothing is sold twice,
 * and what is lost for good is only what its client was told to be on its way.
 */
import { DEFAULT_RECONCILER } from '../domain/reconciler-tuning.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const redisFailover: Scenario = {
  name: 'redis-failover',
  claim: 'After a failover that lost acknowledged reservations nobody is let in until Redis was rebuilt from durable facts, and then the rest is sold; no second order, nothing sold twice.',
  stock: 2_500,
  load: { ...USUAL_CLIENTS, ratePerSecond: 300, durationMs: 20_000, mix: { ...USUAL_CLIENTS.mix, sameUserShare: 0.2 } },
  roles: { ...USUAL_ROLES, reconciler: 1 },
  // The scanner must not have sent yet what the failover is to lose for good.
  tuning: { resendAfterMs: 4_000, reconciler: { ...DEFAULT_RECONCILER, drainPatienceMs: 8_000 } },
  faults: ['link-toxic@link=gateway-kafka,type=timeout,stream=upstream,t=4s,s=1', 'redis-failover@t=4s,lose=500'],
  settleBoundMs: 60_000,
  // Not no-undersell: who lost his place with Redis would count as a buyer whom nobody served.
  invariants: [...SAFETY_INVARIANTS, 'fail-closed'],
  serviceLevels: [
    { name: 'recovery-time', bound: 30_000 },
    { name: 'drained', bound: 30_000 },
  ],
  shows: [
    { figure: 'losses-excused', atLeast: 50 }, { figure: 'paused-answers', atLeast: 100 }, { figure: 'let-in-after-outage', atLeast: 300 }, { figure: 'second-orders-refused', atLeast: 50 },
  ],
};
