/**
 * What one role process needs to know, as JSON in the environment variable `SECKILL_ROLE_CONFIG`. Knows nothing of the lab.
 */
import type { ActivityId, SkuId } from './ids.js';
import type { Namespace } from './namespace.js';
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
  /** Whole budget of one produce call of the gateway. */
  readonly sendBudgetMs: number;
  /** Deadline of one Redis call of the gateway. */
  readonly reserveTimeoutMs: number;
  readonly consumerSessionTimeoutMs: number;
  /** Requests in flight in one gateway before it answers 429 LIMITED. */
  readonly maxInFlight: number;
  readonly postgresPoolSize: number;
}

export const DEFAULT_TUNING: RoleTuning = {
  reservationTtlMs: 300_000,
  paymentWindowMs: 900_000,
  resendAfterMs: 1_000,
  scannerIntervalMs: 250,
  leaseMs: 3_000,
  relayIntervalMs: 50,
  sendBudgetMs: 200,
  reserveTimeoutMs: 500,
  consumerSessionTimeoutMs: 6_000,
  maxInFlight: 4_000,
  postgresPoolSize: 8,
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
