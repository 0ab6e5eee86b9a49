/**
 * A scenario: one file that reads as a story. Claim in the header; load, faults, settling and judges in the value. No I/O.
 */
import type { LoadSpec } from '../facts/load-spec.js';
import type { ActivityRules, ServiceLevelSpec } from '../facts/facts.js';
import type { RoleTuning } from '../domain/role-config.js';
import type { RoleName } from '../domain/roles.js';

export interface Scenario {
  readonly name: string;
  /** One sentence: what is shown if it is green. */
  readonly claim: string;
  readonly stock: number;
  readonly load: Pick<LoadSpec, 'ratePerSecond' | 'durationMs' | 'shape' | 'mix' | 'transport' | 'requestTimeoutMs' | 'connections' | 'pollIntervalMs' | 'pollsMax' | 'payers' | 'permits'>;
  /** How many processes of each role. */
  readonly roles: Readonly<Partial<Record<RoleName, number>>>;
  readonly tuning: Partial<RoleTuning>;
  /** Rules of the activity. Left out: `USUAL_RULES`. */
  readonly rules?: ActivityRules;
  /** Fault options as on the command line: `name@key=value,…`. */
  readonly faults: readonly string[];
  /** How long DRAINED may take after healing. */
  readonly settleBoundMs: number;
  readonly invariants: readonly string[];
  readonly serviceLevels: readonly ServiceLevelSpec[];
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
] as const;

export const USUAL_ROLES = { gateway: 1, consumer: 1, scanner: 1, relay: 1, projector: 1 } as const;

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
