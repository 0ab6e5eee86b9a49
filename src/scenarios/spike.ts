/** What the three spikes share: the storm of the papers on one small machine, with the whole system in it. */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

/**
 * A quarter of the 100 ms within which spike-300k answers. It bounds the generator, and a gateway that falls behind only where connections are few: with a thousand half a second's
 * arrivals and more are on their way before one of them is late.
 */
const SPIKE_LATENESS_MS = 25;

/**
 * For the spikes that promise no time of an answer: 99 % within a second of the intended time. Without a bound six million arrivals that are answered at 420,000 a second, each a bit
 * later than the one before, would pass for 600,000 a second.
 */
export const NOT_FAR_BEHIND = { name: 'api-p99', bound: 1_000 } as const;

/** 10,000 units, a tenth of the arrivals repeat an earlier request id, and an edge in front that carries many customers per connection. */
export const SPIKE: Omit<Scenario, 'name' | 'claim'> = {
  stock: 10_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 300_000, durationMs: 10_000, transport: 'edge', edgeForm: 'json', pollIntervalMs: 2_000, latenessBoundMs: SPIKE_LATENESS_MS },
  roles: USUAL_ROLES,
  tuning: {
    funnel: funnelWith(['sold-out-mark', 'line'], { soldOutMarkMs: 500 }),
    // More than there can be winners, and more than the line lets wait.
    maxInFlight: 30_000,
    warmUpRequests: 12_288,
    rehearsedOrders: 3_000,
    youngGenerationMb: 256,
    // The winners hear of their reservation before the broker, which is last in line for the processor, has confirmed it; so the hand-off has time.
    answerWithinMs: 60,
    producerThreadNice: 15,
    producerLingerMs: 500,
    // The orders take nearly that long beside such a storm; events claimed meanwhile would take half as much of the database again.
    relayLingerMs: 6_000,
    sendBudgetMs: 3_000,
    resendAfterMs: 6_000,
  },
  // Two cores: whoever decides an arrival goes first; the orders have three seconds, and their projection comes last (decision 0025).
  priorities: { consumer: 15, postgres: 15, kafka: 15, relay: 19, projector: 19, scanner: 19, 'redis-replica': 10 },
  faults: [],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [],
};
