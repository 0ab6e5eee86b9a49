/**
 * What a fault may touch: links, servers, roles. Faults act only through this port, so that every stack provider can be faulted alike.
 * All calls reject with `LabError` when the other side does not answer within 5 s.
 */
import type { EventType } from '../domain/reason-codes.js';
import type { HostPort } from '../domain/role-config.js';
import type { LinkName, RoleInstance, RoleName, StoreName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { DatabaseTarget, DiskTarget } from './database-target.js';
import type { ServerName } from './stack-description.js';

export interface ToxicSpec {
  readonly name: string;
  readonly type: 'latency' | 'bandwidth' | 'timeout' | 'limit_data' | 'reset_peer' | 'slow_close' | 'slicer';
  /** downstream = server → client. */
  readonly stream: 'upstream' | 'downstream';
  readonly attributes: Readonly<Record<string, number>>;
}

/**
 * Toxiproxy's byte counters of one link since the proxy was made, as it serves them on `/metrics`. It adds a connection's bytes only when
 * that connection ends (`link.go`), so an open connection has not been counted yet.
 */
export interface LinkCounters {
  /** Bytes received from the client / sent on to the server. */
  readonly upstreamReceivedBytes: number;
  readonly upstreamSentBytes: number;
  /** Bytes received from the server / sent on to the client. */
  readonly downstreamReceivedBytes: number;
  readonly downstreamSentBytes: number;
}

export interface LinkTarget {
  readonly name: LinkName | 'replication';
  readonly listen: HostPort;
  addToxic(toxic: ToxicSpec): Promise<void>;
  /** Removes it if it is there; proves by reading back that it is gone. */
  removeToxic(name: string): Promise<void>;
  listToxics(): Promise<readonly string[]>;
  /** false closes the listener and all connections. */
  setEnabled(enabled: boolean): Promise<void>;
  isEnabled(): Promise<boolean>;
  setUpstream(upstream: HostPort): Promise<void>;
  counters(): Promise<LinkCounters>;
}

/** A server's place in the network of the stack. */
export interface NetworkTarget {
  /** Whoever talks to it gets neither an answer nor a refusal: what is under way is lost, connections stay open. Resolves when that is so. */
  unplug(): Promise<void>;
  /** Safe to call when it is plugged in. */
  plugIn(): Promise<void>;
  isUnplugged(): Promise<boolean>;
}

export interface ServerTarget extends NetworkTarget {
  readonly name: ServerName;
  /** SIGSTOP to the whole server (PostgreSQL: postmaster and every backend); resolves when it is seen stopped. */
  freeze(): Promise<void>;
  /** SIGCONT; resolves when no process of it is stopped. */
  thaw(): Promise<void>;
  isFrozen(): Promise<boolean>;
  /** SIGKILL of the whole server; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same address and data; resolves when it is ready. */
  start(): Promise<void>;
  /** A process of it runs. */
  isRunning(): Promise<boolean>;
  /** Its next end is no death to anybody: a fault is about to make it end by itself. */
  expectEnd(): Promise<void>;
}

export interface StepHit {
  readonly instance: RoleInstance;
  readonly step: StepName;
  /** Hit number, counted over restarts of the instance, from 1. */
  readonly hit: number;
  readonly ids: readonly string[];
  /** CLOCK_MONOTONIC of the role's host in microseconds. */
  readonly monoUs: number;
  readonly action: StepAction | 'none';
  /** The plan that acted; null: none. */
  readonly planId: string | null;
}

/** kill: SIGKILL of itself. pause: SIGSTOP of itself. cut: waits until the lab has armed the link's toxic. */
export type StepAction = 'kill' | 'pause' | 'cut';

/** On every `everyHits`-th hit of the step (from `firstHit`), `times` times in all, act. Given to the process at spawn; survives restarts. */
export interface StepPlan {
  readonly id: string;
  readonly step: StepName;
  readonly action: StepAction;
  readonly firstHit: number;
  readonly everyHits: number;
  readonly times: number;
}

export interface RoleExit {
  readonly instance: RoleInstance;
  readonly pid: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly monoUs: number;
}

export interface RoleTarget {
  readonly instance: RoleInstance;
  pid(): number | null;
  /** SIGKILL now. The lab's supervisor starts it again. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
  /** The process is stopped by a signal. */
  isPaused(): Promise<boolean>;
  /** It runs and its `/healthz` says ready. */
  isHealthy(): Promise<boolean>;
  /** Step lines on which an action was taken, so far. */
  actionHits(): readonly StepHit[];
  /** How often each step was reached so far, over all restarts; read from outside of the process, so it holds for a dead one too. */
  stepCounts(): Readonly<Partial<Record<StepName, number>>>;
  /** Takes a plan out of the running process and of all that follow it. Resolves when the process has answered or is gone. */
  disarm(planId: string): Promise<void>;
  /** Answers a `cut`: the toxic is armed, the process goes on. */
  goOn(hit: StepHit): void;
  exits(): readonly RoleExit[];
  /** Its metrics as `name{labels}` → value; empty when it does not answer. */
  metrics(): Promise<Readonly<Record<string, number>>>;
  /** What its own clock says; null when it does not answer within 5 s. */
  clock(): Promise<RoleClock | null>;
}

/** The clock of a role process as the process reads it. */
export interface RoleClock {
  /** How far it is ahead of the clock of the lab; negative: behind. */
  readonly aheadMs: number;
  /** How often the system has asked it so far. */
  readonly reads: number;
}

/** The lab as a client of a link, through its proxy. All of it rejects with `LabError` when it does not come off in the time that is given plus what a busy machine may need. */
export interface LinkProbe {
  /** Sends at least so many bytes and gets at least as many back; resolves with the milliseconds it took. @param leastMs how long a toxic is known to hold it up. */
  exchange(bytes: number, leastMs: number): Promise<number>;
  /** Makes another connection and ends it without a word; resolves with the milliseconds until the other side has ended, too. */
  closing(leastMs: number): Promise<number>;
  end(): Promise<void>;
}

/** Read-only looks at the servers over direct connections, for predictions and proofs; `probe` alone goes through a proxy. */
export interface Witness {
  /** Sum of end offsets over the partitions of the orders topic of the run. */
  ordersTopicEnd(): Promise<number>;
  /** How many messages the broker appended to the orders topic at or after this wall time (milliseconds since the epoch, LogAppendTime). */
  ordersStoredSince(wallMs: number): Promise<number>;
  /** True when the server answers a trivial query on its direct connection within 1 s. */
  answers(server: 'redis-primary' | 'postgres' | 'kafka'): Promise<boolean>;
  /** True when a new connection to the address is refused, false when it is accepted (and closed again at once). */
  refuses(address: HostPort): Promise<boolean>;
  /** A conversation of the lab's own with the store behind a link. */
  probe(link: HostPort, store: StoreName): Promise<LinkProbe>;
  /** How far the log of a server has got; for `loggedSince`. */
  logEnd(server: ServerName): Promise<number>;
  /** What a server has logged from there on. LabError where its log cannot be read. */
  loggedSince(server: ServerName, from: number): Promise<string>;
  /** Orders of the run that wait for their money: CREATED or PAYING. */
  unpaidOrders(): Promise<number>;
}

/** Makes the past come back, as at-least-once delivery and an operator's second run of a repair do. Direct connections, only what the run made itself. */
export interface Redelivery {
  /** Writes up to `most` records of the events topic with these types once more to its end, oldest first; resolves with how many the broker took. */
  repeatEvents(types: readonly EventType[], most: number): Promise<number>;
  /** Sets up to `most` compensation tasks that are done back to the beginning, due at once; resolves with how many rows were changed. */
  repeatCompensations(most: number): Promise<number>;
  /**
   * Asks for the release of up to `most` reservations that have ended, by compensation tasks of its own, as an operator does who does not know that their events
   * did it; resolves with how many tasks were written.
   */
  askForReleases(most: number): Promise<number>;
}

/** Brings in what the system cannot work off, as a foreign producer or a damaged record would. Direct connections; the users are none of the schedule. */
export interface Poison {
  /** Writes `count` records to the orders topic that are no order messages: no JSON, half a message, bytes, nothing at all, numbers that fit no column. */
  produceMalformed(count: number): Promise<void>;
  /**
   * Writes `count` good messages of users whose orders the database refuses, whoever asks and however often. Every second one, from the first on, is of a reservation
   * that Redis has made, whose unit has to come back; resolves with how many these are.
   */
  produceRefused(count: number): Promise<{ readonly reserved: number }>;
  /** Dead letters on their topic so far; one that was sent twice is one. */
  deadLetters(): Promise<number>;
}

export type RedisServer = 'redis-primary' | 'redis-replica';

/** The Redis pair of the stack, over direct connections: what a failover does, and what proves it. */
export interface RedisPair {
  /** When each reservation of the run that a server holds was made: request id → milliseconds since the epoch, by the gateway. */
  reservedOn(server: RedisServer): Promise<ReadonlyMap<string, number>>;
  /** How many reservations of the run a server holds. */
  countOn(server: RedisServer): Promise<number>;
  /** Makes the replica a primary of its own; resolves when it says so. From then on the lab reads it as the primary. */
  promoteReplica(): Promise<void>;
  /** The server answers as a primary. */
  isPrimary(server: RedisServer): Promise<boolean>;
  /** Address at which the roles' proxies have to point to reach it. */
  addressOf(server: RedisServer): HostPort;
}

export type EvictionPolicy = 'noeviction' | 'allkeys-lru' | 'allkeys-random';

/** What the keys of a run hold. */
export interface RedisHoldings {
  readonly stock: boolean;
  readonly meta: boolean;
  /** Records in `requests`. Nobody ever takes one out, so fewer than before were thrown away. */
  readonly records: number;
  /** Marks in `users`. One goes with the unit that is given back. */
  readonly marks: number;
  /** Entries of `pending`. One goes with the result of its reservation, and with the last one the key. */
  readonly waiting: number;
}

/** All of it and how it fits together, in one look that nothing comes between. */
export interface RedisBooks extends RedisHoldings {
  /** Records that hold their user's mark. */
  readonly marksDue: number;
  /** Records that wait for a result and stand in no entry of `pending`. */
  readonly waitingMissing: number;
  /** When each reservation was made of which Redis does not know that its message was sent; milliseconds since the epoch, by the gateway. */
  readonly unsentAtMs: readonly number[];
}

/** The memory of the Redis that is the primary, over a direct connection. */
export interface RedisMemory {
  /** Forgets every script. */
  flushScripts(): Promise<void>;
  cachedScripts(): Promise<number>;
  /** How often the server has answered NOSCRIPT since it started. */
  scriptMisses(): Promise<number>;
  /** Cheap: counted by the server. */
  holdings(): Promise<RedisHoldings>;
  /** Reads every record. Rejects while memory is full and nothing can be evicted any more. */
  books(): Promise<RedisBooks>;
  /** Sets the policy and how much memory is left from now on; null: no bound. */
  setBound(policy: EvictionPolicy, leftBytes: number | null): Promise<void>;
  /** Keys evicted since the server started. */
  evicted(): Promise<number>;
  /** Writes keys of the lab's own, so that memory is asked for; resolves when the server took them or refused. */
  fill(bytes: number): Promise<void>;
  /** Removes what `fill` wrote. */
  empty(): Promise<void>;
  /** Takes the last bytes off the append-only file of a primary that is not running; resolves with how many it took. */
  cutTail(bytes: number): Promise<number>;
}

/** What can be made wrong in Redis behind the system's back; each is a kind of difference that a reconciler repairs. */
export const TAMPER_KINDS = [
  'order-without-redis-record', 'redis-record-damaged', 'redis-state-behind', 'held-in-pg-returned-in-redis', 'user-mark-missing', 'user-mark-orphan', 'stock-counter-off',
] as const;
export type TamperKind = (typeof TAMPER_KINDS)[number];

/** Makes differences between the ledgers of the run, over direct connections. Each call picks reservations that no call has touched. */
export interface Tampering {
  /** Resolves with the subjects made wrong, at most `count`: request ids, user ids, or `stock` for a counter that is off by `count`. */
  tamper(kind: TamperKind, count: number): Promise<readonly string[]>;
  /** Those of the subjects that the system has repaired, by its own record of repairs. */
  repaired(kind: TamperKind, subjects: readonly string[]): Promise<readonly string[]>;
  /** Writes another server's name into what Redis says of itself for the SKU. */
  disownMirror(): Promise<void>;
  /** Whether Redis calls itself the server that it is, and under which epoch. */
  mirrorMark(): Promise<{ readonly isOwn: boolean; readonly epoch: number }>;
}

export interface Targets {
  link(name: LinkName | 'replication'): LinkTarget;
  server(name: ServerName): ServerTarget;
  roles(role: RoleName): readonly RoleTarget[];
  readonly witness: Witness;
  readonly redelivery: Redelivery;
  readonly poison: Poison;
  readonly redis: RedisPair;
  readonly redisMemory: RedisMemory;
  readonly tampering: Tampering;
  readonly database: DatabaseTarget;
  disk(server: 'postgres' | 'kafka'): DiskTarget;
}
