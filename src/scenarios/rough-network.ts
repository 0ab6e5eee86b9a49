/**
 * rough-network: the ways of the roles to their stores are slow, then narrow, then half open (nothing arrives and nobody is told), then reset, one kind after the
 * other, on every link that the sale uses.
 *
 * Claim: whatever a network does short of lying, every call ends, every outcome that is unknown is treated as unknown, and the system recovers by itself.
 */
import type { LinkName } from '../domain/roles.js';
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

/**
 * Every link that is busy without any other fault, in groups that do not starve each other: what comes from a link that is cut is not there to be lost on the next.
 * Consumers of Kafka come last, since they need seconds to be back in their groups.
 */
const GROUPS: readonly (readonly LinkName[])[] = [
  ['gateway-redis'], ['gateway-kafka', 'scanner-redis'], ['relay-kafka'], ['projector-redis'], ['relay-postgres', 'projector-kafka'], ['consumer-postgres'], ['consumer-kafka'],
];

/** One toxic per link from `fromMs` on, group after group `stepMs` apart; 0: all at once. */
function onEveryLink(kind: string, fromMs: number, lastsMs: number, stepMs: number): readonly string[] {
  return GROUPS.flatMap((links, group) => links.map((link) => `link-toxic@link=${link},${kind},t=${String(fromMs + group * stepMs)}ms,s=${String(lastsMs)}ms`));
}

export const roughNetwork: Scenario = {
  name: 'rough-network',
  claim: 'With every link slow, narrow, half open and reset in turn, each call ends, nothing is lost and nothing is done twice.',
  stock: 8_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 100, durationMs: 56_000 },
  roles: USUAL_ROLES,
  tuning: { resendAfterMs: 500 },
  faults: [
    ...onEveryLink('type=latency,latency=100,jitter=50', 2_000, 3_000, 0),
    ...onEveryLink('type=bandwidth,rate=64', 6_000, 3_000, 0),
    ...onEveryLink('type=timeout', 10_000, 2_000, 2_500),
    // Without Redis the gateway asks PostgreSQL what became of a request, and without the gateway's messages the scanner sends.
    'link-toxic@link=gateway-postgres,type=latency,latency=50,t=10s,s=2',
    ...onEveryLink('type=reset_peer', 33_000, 1_500, 2_000),
    'link-toxic@link=gateway-kafka,type=timeout,t=48s,s=4', 'link-toxic@link=scanner-postgres,type=timeout,t=49s,s=1', 'link-toxic@link=scanner-kafka,type=timeout,t=50500ms,s=2',
  ],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 20_000 },
    { name: 'drained', bound: 30_000 },
  ],
};
