/**
 * A scenario: one file that reads as a story. Claim in the header; load, faults, settling and judges in the value. No I/O.
 */
import { DEFAULT_FUNNEL, type FunnelLayerName, type FunnelTuning } from '../domain/funnel.js';
import type { ChannelAnswers, ChannelFaults, LoadSpec } from '../facts/load-spec.js';
import type { ActivityRules, ServiceLevelSpec, ShownSpec } from '../facts/facts.js';
import type { RoleTuning, Strategies } from '../domain/role-config.js';
import type { RoleName } from '../domain/roles.js';
import type { ServerName } from '../facts/stack-description.js';

export interface Scenario {
  readonly name: string;
  /** One sentence: what is shown if it is green. */
  readonly claim: string;
  readonly stock: number;
  readonly load: Pick<LoadSpec, 'ratePerSecond' | 'durationMs' | 'shape' | 'mix' | 'transport' | 'requestTimeoutMs' | 'latenessBoundMs' | 'connections' | 'pollIntervalMs' | 'pollsMax' | 'payers' | 'permits' | 'edgeForm'>;
  /** How many processes of each role. */
  readonly roles: Readonly<Partial<Record<RoleName, number>>>;
  readonly tuning: Partial<RoleTuning>;
  /** Strategies it needs to show what it claims; an option of the command line goes before them. */
  readonly strategies?: Partial<Strategies>;
  /** Rules of the activity. Left out: `USUAL_RULES`. */
  readonly rules?: ActivityRules;
  /** Nice values of role and server processes, by which those that may be late make room on a machine that everything shares. Left out: all alike. */
  readonly priorities?: Readonly<Partial<Record<RoleName | ServerName, number>>>;
  /** Fault options as on the command line: `name@key=value,…`. */
  readonly faults: readonly string[];
  /** How long DRAINED may take after healing. */
  readonly settleBoundMs: number;
  readonly invariants: readonly string[];
  readonly serviceLevels: readonly ServiceLevelSpec[];
  /** What the run has to have come to, or its green shows nothing of the claim; at the load and the stock above. Left out: nothing besides what judges and faults prove. */
  readonly shows?: readonly ShownSpec[];
}

/** Judges that hold for every run of the system, whatever is broken. */
export const SAFETY_INVARIANTS = [
  'no-oversell',
  'one-order-per-user',
  'one-answer-per-request',
  'stock-conservation',
  'ledger-balanced',
  'redis-conservation',
  'no-lost-reservation',
  'no-phantom-order',
  'stable-message-id',
  'inbox-once',
  'outbox-complete',
  'honest-answers',
  'legal-state-path',
  'release-once',
  'paid-never-cancelled',
  'dead-letters-accounted',
] as const;

/** What holds besides where clients pay: their money is followed through the books of the payment channel. */
export const LIFE_INVARIANTS = [...SAFETY_INVARIANTS, 'money-accounted'] as const;

export const USUAL_ROLES = { gateway: 1, consumer: 1, scanner: 1, relay: 1, projector: 1 } as const;

/** With everything that ends orders. */
export const LIFE_ROLES = { ...USUAL_ROLES, payment: 1, closer: 1, compensator: 1 } as const;

/** The funnel with some layers on and the rest off, and what else is changed. */
export function funnelWith(layers: readonly FunnelLayerName[], changes: Partial<Omit<FunnelTuning, 'layers'>> = {}): FunnelTuning {
  return { ...DEFAULT_FUNNEL, ...changes, layers: { ...DEFAULT_FUNNEL.layers, ...Object.fromEntries(layers.map((layer) => [layer, true])) } };
}

/** A channel that calls back once per payment and tells the truth. */
export const PLAIN_CHANNEL: ChannelFaults = { unannounced: 0, silent: 0, pendingFirst: 0, repeated: 0, contradicted: 0, wrongAmount: 0, unknownOrder: 0 };
/** A channel that does all that channels do. */
export const ROUGH_CHANNEL: ChannelFaults = { unannounced: 0.1, silent: 0.1, pendingFirst: 0.1, repeated: 0.2, contradicted: 0.05, wrongAmount: 0.03, unknownOrder: 0.02 };

/** A channel that answers at once, and one that is slow, silent, wrong, or not done yet. */
export const PLAIN_ANSWERS: ChannelAnswers = { slow: 0, none: 0, contradictory: 0, refundPending: 0 };
export const ROUGH_ANSWERS: ChannelAnswers = { slow: 0.2, none: 0.1, contradictory: 0.1, refundPending: 0.3 };

/** A cancelled unit goes back on sale; who cancelled may not buy again. */
export const USUAL_RULES: ActivityRules = { restockOnCancel: true, rebuyAfterCancel: false };

/** Depth-1 HTTP clients that ask again for their result; what most scenarios start from. */
export const USUAL_CLIENTS = {
  shape: { kind: 'poisson' },
  mix: { repeatShare: 0.1, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: null },
  transport: 'http',
  requestTimeoutMs: 5_000,
  connections: 1_024,
  pollIntervalMs: 500,
  pollsMax: 10,
  payers: null,
  permits: null,
} as const satisfies Partial<Scenario['load']>;
