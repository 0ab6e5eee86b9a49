/** Small runs in which a store is away for a while, or is another one than before. */
import { DEFAULT_RECONCILER } from '../../domain/reconciler-tuning.js';
import { funnelWith, SAFETY_INVARIANTS, USUAL_ROLES } from '../../scenarios/scenario.js';
import { smallRun } from './small-run.js';

/** The consumer is slow meanwhile, so that PostgreSQL does not know yet what Redis cannot say. */
export const redisBlinks = smallRun({
  name: 'redis-blinks',
  claim: 'While Redis cannot be asked, nobody who waits for his order is invited to buy again.',
  strategies: { consumer: 'single' },
  load: { ratePerSecond: 80, durationMs: 3_500, mix: { repeatShare: 0, sameUserShare: 0.5, conflictShare: 0, malformedShare: 0, distinctUsers: null } },
  stock: 250,
  faults: ['slow-consumer@t=0s,s=3,latency=300', 'redis-down@t=1s,s=1,role=gateway'],
});

export const redisAway = smallRun({
  name: 'redis-away',
  claim: 'While Redis is away nobody new is let in.',
  load: { ratePerSecond: 80, durationMs: 3_000 },
  tuning: { reserveTimeoutMs: 200 },
  stock: 300,
  faults: ['redis-down@t=500ms,s=2,role=gateway'],
});

export const brokerAway = smallRun({
  name: 'broker-away',
  claim: 'While the broker is away the breaker opens, and what had been reserved waits.',
  load: { ratePerSecond: 80, durationMs: 3_500 },
  tuning: { funnel: funnelWith(['breaker'], { breaker: { failures: 2, openMs: 300 } }) },
  stock: 300,
  faults: ['broker-outage@t=500ms,s=2500ms,role=gateway'],
});

/** Longer than a send and its second try: some sends are given up although their messages are stored. Nobody gives up waiting meanwhile, and no scanner looks. */
export const acknowledgementsLost = smallRun({
  name: 'acknowledgements-lost',
  claim: 'The broker stores and cannot say so for a while: everything is sent again, and nothing is lost.',
  load: { ratePerSecond: 60, durationMs: 3_500 },
  tuning: { sendBudgetMs: 1_500, resendAfterMs: 2_000 },
  stock: 300,
  faults: ['link-toxic@link=gateway-kafka,type=timeout,stream=downstream,t=500ms,s=700ms', 'link-toxic@link=gateway-kafka,type=timeout,stream=downstream,t=2s,s=900ms'],
  settleBoundMs: 12_000,
});

export const failoverSmall = smallRun({
  name: 'failover-small',
  claim: 'A failover loses forty reservations, and nothing is sold twice.',
  strategies: { allocator: 'row' },
  roles: { ...USUAL_ROLES, reconciler: 1 },
  load: { ratePerSecond: 150, durationMs: 3_000 },
  tuning: { reconciler: { ...DEFAULT_RECONCILER, drainPatienceMs: 2_000, reopenSteps: 1, reopenStepMs: 100, graceMs: 1_500, passIntervalMs: 1_500 } },
  stock: 150,
  faults: ['redis-failover@t=300ms,lose=40'],
  settleBoundMs: 25_000,
  // Not no-undersell: who lost his place with Redis would count as a buyer whom nobody served.
  invariants: [...SAFETY_INVARIANTS, 'fail-closed'],
});

/** The reconciler stands still meanwhile, so that the gateways are alone with the promoted replica for a second or more. */
export const failoverUnnoticed = smallRun({
  name: 'failover-unnoticed',
  claim: 'Nobody is let in on a promoted replica, however long it takes until somebody rebuilds it.',
  roles: { ...USUAL_ROLES, reconciler: 1 },
  load: { ratePerSecond: 120, durationMs: 5_000 },
  tuning: { reserveTimeoutMs: 200, reconciler: { ...DEFAULT_RECONCILER, drainPatienceMs: 2_000, reopenSteps: 1, reopenStepMs: 100, graceMs: 1_500, passIntervalMs: 1_500 } },
  stock: 700,
  faults: ['freeze-role@role=reconciler-1,t=100ms,s=3', 'redis-failover@t=300ms,lose=40'],
  settleBoundMs: 25_000,
  // Not no-undersell: who lost his place with Redis would count as a buyer whom nobody served.
  invariants: [...SAFETY_INVARIANTS, 'fail-closed'],
});

export const counterOff = smallRun({
  name: 'counter-off',
  claim: 'A counter of Redis that is off is set right while people buy, and no unit appears or vanishes.',
  roles: { ...USUAL_ROLES, reconciler: 1 },
  load: { ratePerSecond: 80, durationMs: 5_000 },
  tuning: { reconciler: { ...DEFAULT_RECONCILER, graceMs: 700, passIntervalMs: 300 } },
  stock: 600,
  faults: ['tamper-redis@t=300ms,kind=stock-counter-off,n=5'],
});
