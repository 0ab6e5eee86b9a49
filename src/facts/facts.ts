/**
 * Everything the judges may look at, read from saved files: the same value in a run and in `seckill-lab check`.
 */
import type { Namespace } from '../domain/namespace.js';
import type { Strategies } from '../domain/role-config.js';
import type { RoleInstance } from '../domain/roles.js';
import type { ChannelBooks } from './channel-books.js';
import type { FaultRecord } from './fault-record.js';
import type { HistoryFacts } from './history.js';
import type { LoadSpec } from './load-spec.js';
import type { LotteryDraw, WaitingRoomFacts } from './lottery.js';
import type { CommitLogFacts, Evidence, KafkaFacts, PostgresFacts, RedisFacts } from './store-facts.js';
import type { ClockFacts } from './timeline.js';

/** Rules of the activity that judges need. */
export interface ActivityRules {
  /** A cancelled unit goes back on sale. */
  readonly restockOnCancel: boolean;
  /** A user may buy again after a cancel; `purchase_no` rises. */
  readonly rebuyAfterCancel: boolean;
}

/** Bounds of admission by the age of the oldest message that is not worked off. */
export interface AdmissionFacts {
  readonly maxOldestAgeMs: number;
  /** How often the system looks, and so how long it may take to close. */
  readonly controlPeriodMs: number;
}

/** How long after a store has gone a gateway may still accept. */
export interface FailClosedFacts {
  /** A reserve call that was under way when Redis went may still succeed for this long. */
  readonly inFlightBoundMs: number;
  /** The breaker of a dead broker opens within this time; null: the run has no breaker. */
  readonly breakerOpensWithinMs: number | null;
}

/** How far the clock of a process is ahead; negative: behind. */
export interface ClockSkew {
  readonly instance: RoleInstance;
  readonly aheadMs: number;
}

export interface RunFacts {
  readonly scenario: string;
  readonly namespace: Namespace;
  readonly load: LoadSpec;
  readonly stock: number;
  readonly strategies: Strategies;
  readonly rules: ActivityRules;
  /** null: admission is not bound by age in this run. */
  readonly admission: AdmissionFacts | null;
  readonly failClosed: FailClosedFacts;
  /** null: nobody has to wait for a draw in this run. */
  readonly waitingRoom: WaitingRoomFacts | null;
  /** Inbox rows older than this may be deleted; null: none ever. */
  readonly inboxRetentionMs: number | null;
  readonly clock: ClockFacts;
  /** Processes whose clock a fault put off, and the others of their roles with 0; empty: all clocks are right. */
  readonly clockSkews: readonly ClockSkew[];
  /** Names of the judges that count for this run. */
  readonly invariants: readonly string[];
  /** Service levels that this run promises, with their bounds. */
  readonly serviceLevels: readonly ServiceLevelSpec[];
  /** What this run has to have come to. */
  readonly shows: readonly ShownSpec[];
}

/** Counts of what a story tells of, each from evidence; `src/invariants/shown/` has one function for each. */
export const SHOWN_FIGURES = [
  'orders', 'races', 'races-won-by-payment', 'races-won-by-end', 'late-money-returned', 'orders-timed-out', 'orders-carried-over', 'units-released', 'orders-beyond-stock', 'second-purchases',
  'temp-sold-out-answers', 'turned-away-by-admission', 'turned-away-in-a-row', 'let-in-again', 'paused-answers', 'let-in-after-outage', 'second-orders-refused', 'turned-away-by-breaker', 'turned-away-by-permit', 'turned-away-by-draw', 'people-limited', 'repairs', 'losses-excused',
  'inbox-rows-trimmed', 'events-archived', 'callbacks-archived', 'orders-after-outage', 'messages-unheard',
] as const;
export type ShownFigure = (typeof SHOWN_FIGURES)[number];

/**
 * What a run has to have come to: where two things never met, a judge that finds nothing wrong with their meeting has shown nothing. A run that falls short of one,
 * or goes beyond, is `unknown`, whatever its judges say.
 */
export interface ShownSpec {
  readonly figure: ShownFigure;
  readonly atLeast: number;
  /** Left out: as many as there are. */
  readonly atMost?: number;
}

export interface ServiceLevelSpec {
  readonly name: 'api-p99' | 'winners-p99' | 'decided' | 'order-within-3s' | 'recovery-time' | 'drained';
  /** api-p99, winners-p99, recovery-time: milliseconds. order-within-3s: least share of orders, 0…1. decided: least share of arrivals, 0…1. drained: milliseconds. */
  readonly bound: number;
}

/** How settling went. */
export interface SettleFacts {
  /** From here on recovery counts: the later of the last healing and the end of the storm, since nothing can drain while it blows. */
  readonly healedUs: number;
  /** null: not drained inside the bound. */
  readonly drainedUs: number | null;
  readonly boundMs: number;
  /** What was still open at the bound, in words. */
  readonly open: readonly string[];
  /** Every role stopped and its exit seen before the harvest. */
  readonly quiesced: boolean;
  readonly quiesceProblems: readonly string[];
}

/** A role's last metrics, as `name{labels}` → value. */
export type MetricsFacts = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface Facts {
  readonly run: RunFacts;
  readonly history: Evidence<HistoryFacts>;
  readonly redis: Evidence<RedisFacts>;
  readonly kafka: Evidence<KafkaFacts>;
  readonly postgres: Evidence<PostgresFacts>;
  readonly commitLog: Evidence<CommitLogFacts>;
  readonly faults: Evidence<readonly FaultRecord[]>;
  readonly settle: Evidence<SettleFacts>;
  readonly metrics: Evidence<MetricsFacts>;
  /** In the order of the gateways' logs; empty where there is no waiting room. */
  readonly lottery: Evidence<readonly LotteryDraw[]>;
  /** Of the payment channel that the clients pay at; empty where nobody pays. */
  readonly channel: Evidence<ChannelBooks>;
}
