/**
 * kill-after-lua: the gateway dies right after Redis has reserved, again and again (paper `000` §7.7, CASES C15).
 *
 * Claim: a unit that was reserved by a dying gateway still becomes an order, under the message id it was born with.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const killAfterLua: Scenario = {
  name: 'kill-after-lua',
  claim: 'A unit reserved by a gateway that died right after the Lua call still becomes an order, under the message id it was born with.',
  stock: 20_000,
  // Few clients that ask seldom: two gateways that die every second are mostly cold, and thousands of polls for lost requests would be all they do.
  load: { ...USUAL_CLIENTS, ratePerSecond: 100, durationMs: 45_000, requestTimeoutMs: 2_000, connections: 256, pollIntervalMs: 3_000, pollsMax: 3 },
  roles: { ...USUAL_ROLES, gateway: 2 },
  // A gateway that dies every second has no time to warm up.
  tuning: { resendAfterMs: 500, warmUpRequests: 0 },
  faults: ['kill-role@step=gateway.after-reserve,every=5,times=50'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 10_000 },
    { name: 'drained', bound: 15_000 },
  ],
};
