/**
 * spike-300k: 300,000 arrivals a second for ten seconds at 10,000 units, on two cores with everything on them (paper `000` §1).
 *
 * Claim: every arrival is decided, exactly the stock is sold, 99 % hear their answer within 100 ms and 99.9 % of the orders are there within 3 s.
 */
import type { Scenario } from './scenario.js';
import { SPIKE } from './spike.js';

export const spike300k: Scenario = {
  ...SPIKE,
  name: 'spike-300k',
  claim: '300,000 arrivals a second at 10,000 units: every arrival decided, exactly the stock sold, p99 below 100 ms, orders within 3 s.',
  serviceLevels: [
    { name: 'decided', bound: 1 },
    { name: 'api-p99', bound: 100 },
    { name: 'winners-p99', bound: 300 },
    { name: 'order-within-3s', bound: 0.999 },
    { name: 'drained', bound: 30_000 },
  ],
};
