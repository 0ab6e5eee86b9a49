/**
 * spike-600k: twice the rate of spike-300k, with items of 32 bytes (domain/batch-contract.ts).
 *
 * Claim: at 600,000 arrivals a second all that spike-300k promises holds but for the time of an answer, which is reported as it is as long as the gateway is not a second behind. Winners are promised theirs.
 */
import type { Scenario } from './scenario.js';
import { NOT_FAR_BEHIND, SPIKE } from './spike.js';

export const spike600k: Scenario = {
  ...SPIKE,
  name: 'spike-600k',
  claim: '600,000 arrivals a second at 10,000 units, in binary items: every arrival decided, exactly the stock sold, orders within 3 s.',
  load: { ...SPIKE.load, ratePerSecond: 600_000, edgeForm: 'binary' },
  serviceLevels: [
    { name: 'decided', bound: 1 },
    NOT_FAR_BEHIND,
    { name: 'winners-p99', bound: 300 },
    { name: 'order-within-3s', bound: 0.999 },
    { name: 'drained', bound: 30_000 },
  ],
};
