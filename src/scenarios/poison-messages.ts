/**
 * poison-messages: records that nobody can work off come into the orders topic in the middle of a sale (paper `000` §7.4, CASES C22).
 *
 * Forty-five seconds, so that those who work on the poison may be killed with it: a consumer that dies is missed for its session's six seconds before its partitions go on,
 * and faults strike only while the storm blows.
 *
 * Claim: none of them stops its partition, each is kept with its cause and its place, and every buyer gets what he would have got without them.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const poisonMessages: Scenario = {
  name: 'poison-messages',
  claim: 'Messages that cannot be worked off end as dead letters with cause and place; no partition stops and no buyer notices.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 120, durationMs: 45_000 },
  roles: { ...USUAL_ROLES, undertaker: 1 },
  tuning: {},
  faults: ['poison-messages@t=3s,n=20'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 10_000 },
    { name: 'drained', bound: 15_000 },
  ],
};
