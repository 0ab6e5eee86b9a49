/**
 * rough-network: the ways of the roles to their stores are slow, then narrow, then half open (nothing arrives and nobody is told), then reset, one kind after the
 * other, on every link that the sale uses.
 *
 * Claim: whatever a network does short of lying, every call ends, every outcome that is unknown is treated as unknown, and the system recovers by itself.
 */
import type { LinkName } from '../domain/roles.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

/** Every link that is busy without any other fault. */
const BUSY_LINKS: readonly LinkName[] = [
  'gateway-redis', 'gateway-kafka', 'scanner-redis', 'consumer-kafka', 'consumer-postgres', 'relay-kafka', 'relay-postgres', 'projector-redis', 'projector-kafka',
];
const KINDS = [
  ['type=latency,latency=100,jitter=50', 2, 3],
  ['type=bandwidth,rate=64', 6, 3],
  ['type=timeout', 10, 3],
  ['type=reset_peer', 15, 2],
] as const;

export const roughNetwork: Scenario = {
  name: 'rough-network',
  claim: 'With every link slow, narrow, half open and reset in turn, each call ends, nothing is lost and nothing is done twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 100, durationMs: 20_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: KINDS.flatMap(([kind, t, s]) => BUSY_LINKS.map((link) => `link-toxic@link=${link},${kind},t=${String(t)}s,s=${String(s)}`)),
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
