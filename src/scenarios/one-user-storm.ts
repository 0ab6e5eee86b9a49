/**
 * one-user-storm: one user sends ten thousand requests, each with an id of its own (paper `000` §13.2, CASES C10).
 *
 * Claim: he gets one order, and his clicks eat no stock.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const oneUserStorm: Scenario = {
  name: 'one-user-storm',
  claim: 'One user with ten thousand request ids gets one order, and his clicks eat no stock.',
  stock: 100,
  load: {
    ...USUAL_CLIENTS,
    shape: { kind: 'constant' },
    ratePerSecond: 2_000,
    durationMs: 5_000,
    mix: { ...USUAL_CLIENTS.mix, repeatShare: 0, distinctUsers: 1 },
  },
  roles: USUAL_ROLES,
  tuning: {},
  faults: [],
  settleBoundMs: 20_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [{ name: 'drained', bound: 10_000 }],
};
