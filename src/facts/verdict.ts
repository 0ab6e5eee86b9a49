/**
 * What the judges say. A judge is a pure function from facts to `InvariantVerdict`; the run's verdict is the merge of all of them.
 */
import type { GeneratorFacts } from './history.js';
import type { TransportName } from './load-spec.js';
import type { FaultRecord } from './fault-record.js';

export type InvariantOutcome = 'holds' | 'violated' | 'unknown' | 'not-judged';

export interface BiographyLine {
  /** Wall time in ISO form or null when the source has no time. */
  readonly at: string | null;
  readonly source: 'client' | 'redis' | 'kafka' | 'postgres' | 'commit-log' | 'fault';
  readonly text: string;
}

export interface WitnessOfViolation {
  /** `reservation`, `user`, `request`, `order`, `message`, `account`, … */
  readonly kind: string;
  readonly id: string;
  /** One sentence: what is wrong with it. */
  readonly claim: string;
  readonly biography: readonly BiographyLine[];
}

export interface InvariantVerdict {
  readonly name: string;
  readonly outcome: InvariantOutcome;
  /** How many things were checked. */
  readonly checked: number;
  /** How many of them break the rule. */
  readonly violations: number;
  readonly first: WitnessOfViolation | null;
  readonly worst: WitnessOfViolation | null;
  /** Reason of unknown and not-judged; a summary otherwise. */
  readonly note: string;
  /** Things excused by a fault's proven `mayLose`. */
  readonly excused: number;
}

export interface ServiceLevelVerdict {
  readonly name: string;
  readonly outcome: 'met' | 'missed' | 'unknown' | 'not-judged';
  readonly measured: number | null;
  readonly bound: number;
  readonly unit: 'ms' | 'share';
  readonly note: string;
}

/** Whether the run came to what its scenario tells of. */
export interface ShownVerdict {
  readonly figure: string;
  readonly outcome: 'shown' | 'not-shown' | 'unknown';
  readonly atLeast: number;
  /** Left out: there is no such bound. */
  readonly atMost?: number;
  /** null: the evidence for counting is missing. */
  readonly seen: number | null;
  /** What was counted, in words. */
  readonly what: string;
}

export interface LoadVerdict {
  readonly outcome: 'valid' | 'void' | 'unknown';
  readonly reasons: readonly string[];
  readonly generator: GeneratorFacts | null;
}

/** What never came is slower than all that did. A percentile that falls on it is null: left out, it would make a system look faster the more it drops. */
export interface Latencies {
  /** Everything that was waited for, whether it came or not. */
  readonly count: number;
  readonly never: number;
  readonly p50Us: number | null;
  readonly p99Us: number | null;
  readonly p999Us: number | null;
  readonly maxUs: number | null;
}

/** What one layer of the gateways' admission funnel did with the requests that reached it, summed over the gateways. */
export interface FunnelCount {
  readonly layer: string;
  /** `passed`, `refused`. */
  readonly outcome: string;
  readonly count: number;
}

export interface FunnelFigures {
  /** In the order of the layers. Empty: the gateways told of none. */
  readonly counts: readonly FunnelCount[];
  /** Gateways that were started again while the storm blew: their counts began at zero then. null: nobody can tell. */
  readonly restarted: readonly string[] | null;
}

/** What the storm cost, and what of it reached the stores. */
export interface CostFigures {
  /** Purchases that reserve calls asked Redis about, each time they did. */
  readonly reachedRedis: number | null;
  /** When a gateway first knew by itself that nothing is left: milliseconds after the first arrival was due. */
  readonly soldOutKnownMs: number | null;
  /** Processor time while the storm blew, by process. Empty: not measured. */
  readonly cpuSeconds: Readonly<Record<string, number>>;
  /** What the host took away from this machine meanwhile. */
  readonly stealSeconds: number | null;
}

/** Counts a reader wants first. Null: the evidence is missing. */
export interface RunFigures {
  readonly transport: TransportName;
  readonly stock: number;
  readonly offered: number | null;
  readonly issued: number | null;
  readonly decided: number | null;
  readonly accepted: number | null;
  readonly soldOut: number | null;
  readonly refusedByCode: Readonly<Record<string, number>>;
  readonly orders: number | null;
  readonly topicMessages: number | null;
  readonly topicDuplicates: number | null;
  /** Orders that stand paid. */
  readonly paid: number | null;
  /** Reservations whose order ended and that were released. */
  readonly released: number | null;
  /** Payments whose money went back, or is about to. */
  readonly refunds: number | null;
  readonly unmatchedPayments: number | null;
  readonly deadLetters: number | null;
  /** Reservations in MANUAL_REQUIRED and open dead letters. */
  readonly waitingForHumans: number | null;
  readonly funnel: FunnelFigures;
  readonly cost: CostFigures;
  readonly latencyFromIntended: Latencies | null;
  readonly winnersLatency: Latencies | null;
  readonly reservationToOrder: Latencies | null;
  readonly recoveryMs: number | null;
  readonly excused: number;
}

export type RunOutcome = 'green' | 'violated' | 'unknown' | 'void' | 'service-level-missed';

export interface RunVerdict {
  readonly schemaVersion: 2;
  readonly run: { readonly id: string; readonly scenario: string; readonly seed: number; readonly startedAt: string; readonly directory: string };
  readonly outcome: RunOutcome;
  readonly exitCode: number;
  /** One sentence. */
  readonly headline: string;
  readonly invariants: readonly InvariantVerdict[];
  readonly serviceLevels: readonly ServiceLevelVerdict[];
  readonly shown: readonly ShownVerdict[];
  readonly load: LoadVerdict;
  readonly faults: readonly FaultRecord[];
  readonly figures: RunFigures;
}
