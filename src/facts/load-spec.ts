/**
 * The load of a run, and everything that follows from it by arithmetic: `arrival-plan.ts` expands it into one row per arrival. Written to
 * the manifest; judges expand it again, so that "what was asked for" needs no trust in the generator.
 */
import type { ActivityId, SkuId } from '../domain/ids.js';

export type TransportName = 'http' | 'inproc';

export type ArrivalShape =
  | { readonly kind: 'constant' }
  | { readonly kind: 'poisson' }
  /** `baseShare` of the rate outside the spike, the whole rate inside [fromMs, toMs). */
  | { readonly kind: 'spike'; readonly baseShare: number; readonly fromMs: number; readonly toMs: number };

/** Shares of all arrivals, 0…1; what is left is fresh requests. */
export interface TrafficMix {
  /** Same request id, same user, same payload as an earlier arrival. */
  readonly repeatShare: number;
  /** A user of an earlier arrival with a new request id. */
  readonly sameUserShare: number;
  /** An earlier request id with another payload. */
  readonly conflictShare: number;
  /** A malformed request (quantity 2): 400. */
  readonly malformedShare: number;
  /** How many different users fresh arrivals use in turn; null: one user per fresh arrival. */
  readonly distinctUsers: number | null;
}

export interface LoadSpec {
  readonly seed: number;
  readonly ratePerSecond: number;
  readonly durationMs: number;
  readonly shape: ArrivalShape;
  readonly mix: TrafficMix;
  readonly transport: TransportName;
  readonly activityId: ActivityId;
  readonly skuId: SkuId;
  /** A request without an answer after this is indeterminate. */
  readonly requestTimeoutMs: number;
  /** Sockets per generator; depth 1 each. */
  readonly connections: number;
  /** Accepted and indeterminate requests poll their Location this often until they hear a final state, and once after settling. */
  readonly pollIntervalMs: number;
  readonly pollsMax: number;
}

export const DEFAULT_MIX: TrafficMix = { repeatShare: 0.1, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: null };

export const ARRIVAL_KINDS = ['fresh', 'repeat', 'same-user', 'conflict', 'malformed'] as const;
export type ArrivalKind = (typeof ARRIVAL_KINDS)[number];
