/**
 * Redis as the system sees it: the fast filter in front of the ledger. Implemented by `redis-stock.ts` with the scripts in `lua/`.
 *
 * No call ever rejects for an operating failure: every outcome is a value, and `unknown` means "may or may not have happened".
 */
import type { CallOutcome, ReserveCode } from '../../domain/reason-codes.js';
import type { MessageId, OrderId, RequestId, ReservationId, SkuKey, UserId } from '../../domain/ids.js';
import type { RedisRecordState } from '../../domain/status-codes.js';
import type { StockFigures } from './stock-figures.js';

export interface ReserveRequest {
  readonly requestId: RequestId;
  readonly userId: UserId;
  /** Hex SHA-256 of the canonical payload. */
  readonly payloadHash: string;
  readonly reservationId: ReservationId;
  readonly messageId: MessageId;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
}

/** A record of the `requests` hash. */
export interface StockRecord {
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly reservationId: ReservationId;
  readonly messageId: MessageId;
  readonly payloadHash: string;
  readonly state: RedisRecordState;
  /** Version of the activity that the reservation was made under; a resend carries it. Digits. */
  readonly activityVersion: string;
  readonly purchaseNo: number;
  readonly reservedAtMs: number;
  readonly expiresAtMs: number;
  readonly orderId: OrderId | null;
  readonly reason: string | null;
  readonly appliedVersion: number;
  /** The unit of this reservation went back to the stock. */
  readonly unitReturned: boolean;
}

export interface ReserveDecision {
  readonly code: ReserveCode;
  /** RESERVED and REPEATED: the record; USER_HAS_ONE: the user's own record where it is readable. Else null. */
  readonly record: StockRecord | null;
  /** Stock left after this decision; null where not known. */
  readonly stockLeft: number | null;
  /** With SOLD_OUT, where sold-out marks are kept. */
  readonly soldOut?: SoldOut | null;
  /** With RESERVED and REPEATED: epoch of the Redis that holds the record. */
  readonly epoch?: string;
}

/** A time of being sold out. Nobody is accepted from its begin until units that came back are sold again. */
export interface SoldOut {
  /** Epoch and number; equal ones are the same time. */
  readonly turn: string;
  /** Units are back and will be sold then; 0: none is back. */
  readonly reopensInMs: number;
  /** Requests of this epoch accepted so far, whatever became of them. */
  readonly acceptedCount: number;
}

/** One outcome for the whole call; with `done`, one decision per request in the order given. */
export type ReserveReply =
  | { readonly outcome: 'done'; readonly decisions: readonly ReserveDecision[] }
  | { readonly outcome: 'surely-not-done' | 'unknown'; readonly reason: string };

export type LookupReply =
  | { readonly outcome: 'done'; readonly record: StockRecord | null }
  | { readonly outcome: 'surely-not-done' | 'unknown'; readonly reason: string };

/** What the projector writes back. Only a version newer than the applied one has an effect. */
export interface ProjectionUpdate {
  readonly requestId: RequestId;
  readonly reservationId: ReservationId;
  readonly userId: UserId;
  readonly state: RedisRecordState;
  readonly orderId: OrderId | null;
  readonly reason: string | null;
  readonly version: number;
  /** Give the unit back, once per reservation id; an unknown record never increments. */
  readonly returnsUnit: boolean;
  /** Let the user reserve again, if the mark still belongs to this request. */
  readonly clearsUserMark: boolean;
}

export type ProjectionReply =
  | { readonly outcome: 'done'; readonly applied: 'applied' | 'stale' | 'unknown-record'; readonly unitReturned: boolean }
  | { readonly outcome: 'surely-not-done' | 'unknown'; readonly reason: string };

export interface ClaimReply {
  readonly outcome: CallOutcome;
  readonly records: readonly StockRecord[];
  /** Entries of the index without a readable record: lost, not finished. They stay in the index. */
  readonly orphans: readonly RequestId[];
  /** Clock of the Redis server at the claim, ms since the epoch: the clock that judges leases and expiry (CASES C14). 0 when not done. */
  readonly nowMs: number;
  /** Entries in the index, claimed or not. */
  readonly pendingCount: number;
  readonly reason: string | null;
}

export interface SkuMeta {
  readonly activityVersion: string;
  readonly startAtMs: number;
  readonly endAtMs: number;
  readonly unitPrice: string;
  readonly currency: string;
  /** `open` or `stopped`. */
  readonly status: string;
  readonly epoch: string;
}

export interface StockPort {
  /** 1…64 requests, each decided on its own, repeats inside the batch too. Idempotent by request id. */
  reserve(sku: SkuKey, requests: readonly ReserveRequest[]): Promise<ReserveReply>;
  /** Best effort: PENDING → SENT. The entry stays in the pending index until the projector takes it out. */
  markSent(sku: SkuKey, requestIds: readonly RequestId[]): Promise<CallOutcome>;
  lookup(sku: SkuKey, requestId: RequestId): Promise<LookupReply>;
  meta(sku: SkuKey): Promise<{ outcome: 'done'; meta: SkuMeta | null } | { outcome: 'surely-not-done' | 'unknown'; reason: string }>;
  /**
   * Claims up to `limit` (1…500) due records of the pending index by pushing their time `leaseMs` ahead, in one Redis call, so two scanners
   * never hold the same record at once. Due and lease are judged by the server's clock, never by the caller's.
   */
  claimPending(sku: SkuKey, leaseMs: number, limit: number): Promise<ClaimReply>;
  project(sku: SkuKey, updates: readonly ProjectionUpdate[]): Promise<readonly ProjectionReply[]>;
  /** Sizes and replication, for gauges; null: no answer. Absent: this stock has no server to ask. */
  figures?(sku: SkuKey): Promise<StockFigures | null>;
  /** The connection is up and the primary answers. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

/** What warm-up writes; used by the lab's seeding and by a rebuild. */
export interface WarmUp {
  readonly stock: number;
  readonly meta: SkuMeta;
}
