/**
 * What one role process needs to know, as JSON in the environment variable `SECKILL_ROLE_CONFIG`. Knows nothing of the lab.
 */
import { DEFAULT_FUNNEL, type FunnelTuning } from './funnel.js';
import type { ActivityId, SkuId } from './ids.js';
import type { Namespace } from './namespace.js';
import { DEFAULT_RECONCILER, type ReconcilerTuning } from './reconciler-tuning.js';
import type { RoleInstance, RoleName } from './roles.js';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface PostgresAddress extends HostPort {
  readonly user: string;
  readonly password: string;
}

export interface RoleAddresses {
  /** Through the role's own proxies when there are any. */
  readonly redis: HostPort;
  readonly kafka: HostPort;
  readonly postgres: PostgresAddress;
}

/** `single`: a transaction per message. `batch:N`: one transaction for up to N messages, set-based. */
export type ConsumerStrategy = 'single' | `batch:${number}`;
export type AllocatorStrategy = 'token' | 'row';

export interface Strategies {
  readonly consumer: ConsumerStrategy;
  readonly allocator: AllocatorStrategy;
}

export interface RoleTuning {
  /** A reservation without order is closed by the scanner after this. */
  readonly reservationTtlMs: number;
  /** An unpaid order expires after this. */
  readonly paymentWindowMs: number;
  /** A reservation older than this and still PENDING is resent by the scanner. */
  readonly resendAfterMs: number;
  readonly scannerIntervalMs: number;
  /** Lease of scanner and relay claims. */
  readonly leaseMs: number;
  readonly relayIntervalMs: number;
  /** A relay that had nothing to do begins this long after the first event. 0: at once. */
  readonly relayLingerMs: number;
  /** Whole budget of one produce call of the gateway. */
  readonly sendBudgetMs: number;
  /**
   * A winner whose message the broker has not confirmed this long after his reservation hears QUEUED_PENDING_MESSAGE then, and the hand-off goes on behind his
   * answer; null: he waits until `sendBudgetMs` is over.
   */
  readonly answerWithinMs: number | null;
  /** Priority of a thread of its own for the gateway's producer, 0 to 19; null: it shares the thread of the requests. */
  readonly producerThreadNice: number | null;
  /**
   * How long the hand-offs of a gateway collect before it begins with them: messages are not even made before. With an answer that does not wait for the broker, they
   * can make room for those who have none yet: a sale is over in a moment. 0: each begins at once.
   */
  readonly producerLingerMs: number;
  /** Deadline of one Redis call of the gateway. */
  readonly reserveTimeoutMs: number;
  readonly consumerSessionTimeoutMs: number;
  /** Requests in flight in one gateway before it answers 429 LIMITED. */
  readonly maxInFlight: number;
  /** Reservations that a gateway plays through over stores made of memory before it listens, to compile its hot path. 0: none. */
  readonly warmUpRequests: number;
  /** Orders that a consumer runs through PostgreSQL and takes back before it joins its group, to be warm. 0: none. */
  readonly rehearsedOrders: number;
  /** Size in MB of each half of the gateway's young generation, for who starts its process (system/node-flags.ts); null: as V8 chooses. */
  readonly youngGenerationMb: number | null;
  /** What stands between a request and the reserve call. */
  readonly funnel: FunnelTuning;
  readonly postgresPoolSize: number;
  /** Where the payment channel answers queries and refunds; null: there is none, payments end by callbacks alone and refunds wait. */
  readonly paymentChannel: HostPort | null;
  /** Key of the signatures of callbacks; null: they are not signed. */
  readonly paymentCallbackSecret: string | null;
  /** A payment without an answer for this long is asked for at the channel; later questions wait twice as long each, up to sixteen times. */
  readonly paymentQueryAfterMs: number;
  /** Deadline of one call of the channel. */
  readonly channelTimeoutMs: number;
  readonly closerSweepIntervalMs: number;
  /** The sweep takes orders that no close message has ended for this long after their time. */
  readonly closerSweepGraceMs: number;
  readonly compensatorIntervalMs: number;
  /** Gauges that have to be asked for (PostgreSQL's statistics, sizes in Redis): asked at most this often, ≥ 5 s; 0: never. */
  readonly storeFiguresIntervalMs: number;
  /** Spans through the OpenTelemetry API and `traceparent` in messages. */
  readonly tracing: boolean;
  /** How often a lone message that the database refuses is tried before it becomes a dead letter. */
  readonly deadLetterAttempts: number;
  /**
   * A reservation this old whose end nobody can tell becomes MANUAL_REQUIRED and is not sent again. Longer than `reservationTtlMs` by default,
   * since what has expired can be closed and needs nobody.
   */
  readonly recoveryDeadlineMs: number;
  /** How far back the topics can be read again, as their `retention.ms` says; null: from their beginning, for ever. */
  readonly logRetentionMs: number | null;
  /** Inbox rows are deleted after this. Must reach back further than any replay: beyond `logRetentionMs` and `recoveryDeadlineMs`. */
  readonly inboxRetentionMs: number;
  /** Events are moved to the archive this long after they were sent. */
  readonly outboxArchiveAfterMs: number;
  /** Callbacks of the payment channel are moved to the archive this long after they came. Until then a repeat is known by its id, afterwards by its trade alone. */
  readonly callbackArchiveAfterMs: number;
  readonly retentionIntervalMs: number;
  readonly reconciler: ReconcilerTuning;
}

export const DEFAULT_TUNING: RoleTuning = {
  reservationTtlMs: 300_000,
  paymentWindowMs: 900_000,
  resendAfterMs: 1_000,
  scannerIntervalMs: 250,
  leaseMs: 3_000,
  relayIntervalMs: 50,
  relayLingerMs: 0,
  sendBudgetMs: 200,
  answerWithinMs: null,
  producerThreadNice: null,
  producerLingerMs: 0,
  reserveTimeoutMs: 500,
  consumerSessionTimeoutMs: 6_000,
  maxInFlight: 4_000,
  warmUpRequests: 4_096,
  rehearsedOrders: 0,
  youngGenerationMb: null,
  funnel: DEFAULT_FUNNEL,
  postgresPoolSize: 8,
  paymentChannel: null,
  paymentCallbackSecret: null,
  paymentQueryAfterMs: 5_000,
  channelTimeoutMs: 1_000,
  closerSweepIntervalMs: 500,
  closerSweepGraceMs: 1_500,
  compensatorIntervalMs: 100,
  storeFiguresIntervalMs: 5_000,
  tracing: false,
  deadLetterAttempts: 3,
  recoveryDeadlineMs: 900_000,
  logRetentionMs: null,
  inboxRetentionMs: 604_800_000,
  outboxArchiveAfterMs: 86_400_000,
  callbackArchiveAfterMs: 2_592_000_000,
  retentionIntervalMs: 10_000,
  reconciler: DEFAULT_RECONCILER,
};

export interface RoleConfig {
  readonly role: RoleName;
  readonly instance: RoleInstance;
  readonly namespace: Namespace;
  readonly addresses: RoleAddresses;
  /** The gateway's public HTTP address; every other role serves `/healthz` and `/metrics` here. */
  readonly listen: HostPort;
  readonly activityId: ActivityId;
  readonly skuIds: readonly SkuId[];
  readonly strategies: Strategies;
  readonly tuning: RoleTuning;
}
