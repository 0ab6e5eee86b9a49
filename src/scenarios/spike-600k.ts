/**
 * spike-600k: twice the rate of spike-300k, with items of 32 bytes (domain/batch-contract.ts).
 *
 * Claim: at 600,000 arrivals a second all that spike-300k promises holds but for the time of an answer, which is reported as it is. Winners are promised theirs.
 */
import type { Scenario } from './scenario.js';
import { SPIKE } from './spike.js';

export const spike600k: Scenario = {
  ...SPIKE,
  name: 'spike-600k',
  claim: '600,000 arrivals a second at 10,000 units, in binary items: every arrival decided, exactly the stock sold, orders within 3 s.',
  // Few connections: where no time of an answer is promised, how late arrivals go out is what bounds how far the gateway may be behind.
  load: { ...SPIKE.load, ratePerSecond: 600_000, edgeForm: 'binary', connections: 128 },
  serviceLevels: [
    { name: 'decided', bound: 1 },
    { name: 'winners-p99', bound: 300 },
    { name: 'order-within-3s', bound: 0.999 },
    { name: 'drained', bound: 30_000 },
  ],
};
