/**
 * waiting-room: buyers wait half a second and are drawn by lot, so that being near and being quick is worth nothing (paper `004` §9). Two gateways draw on their own,
 * and die in the middle of their rounds: a round that was never told whole was no draw, and nobody may get in by it.
 *
 * Claim: only the drawn get in, and whoever has the published lists finds the same winners again.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

export const waitingRoom: Scenario = {
  name: 'waiting-room',
  claim: 'Where buyers wait for a draw only the drawn get in, and whoever has the published lists finds the same winners again.',
  stock: 300,
  // Some hundred people a round and gateway, of whom a tenth is drawn; of one user's two requests only one takes part.
  load: { ...USUAL_CLIENTS, ratePerSecond: 300, durationMs: 20_000, mix: { ...USUAL_CLIENTS.mix, sameUserShare: 0.05 } },
  roles: { ...USUAL_ROLES, gateway: 2 },
  tuning: { warmUpRequests: 0, funnel: funnelWith(['waiting-room'], { waitingRoom: { windowMs: 500, places: 10, seed: 20_260_101, participantsMax: 10_000 } }) },
  faults: ['kill-role@step=gateway.after-reserve,hit=3,every=4,times=3'],
  settleBoundMs: 30_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell', 'lottery-kept'],
  serviceLevels: [{ name: 'drained', bound: 10_000 }],
  shows: [{ figure: 'turned-away-by-draw', atLeast: 1_000 }, { figure: 'orders', atLeast: 300 }],
};
