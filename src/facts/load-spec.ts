/**
 * The load of a run, and everything that follows from it by arithmetic: `arrival-plan.ts` expands it into one row per arrival. Written to
 * the manifest; judges expand it again, so that "what was asked for" needs no trust in the generator.
 */
import type { ActivityId, SkuId } from '../domain/ids.js';

/**
 * `http`: one request per connection at a time, as customers do. `edge`: an L7 edge that carries many customers' requests per connection, as batches of up to 512
 * (domain/batch-contract.ts). `inproc`: the gateway's submit function called in the generator's process.
 */
export type TransportName = 'http' | 'edge' | 'inproc';

/** How an edge writes its batches. Binary items carry ids alone: no other payload, no permit, no device. */
export type EdgeForm = 'json' | 'binary';

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

/** How often the world outside does what; 0…1 each. */
export interface PayerShares {
  /** Of the clients who hear that they have an order; what is left of 1 never pays. */
  readonly inTime: number;
  readonly late: number;
  /** Pays two times: two trades at the channel for one order. */
  readonly twice: number;
  /** Pays in time and wants its money back as soon as it hears that it has paid. */
  readonly refund: number;
  readonly cancel: number;
}

/** What the channel does besides one callback per payment that was started; shares of all that pay, 0…1 each. */
export interface ChannelFaults {
  /** The money comes without a payment that was started here: the callback names the order only. */
  readonly unannounced: number;
  /** The channel takes the money and never calls back: the system has to ask. Only where the payment was started here, and in time. */
  readonly silent: number;
  /** Before it knows, the channel says PENDING. */
  readonly pendingFirst: number;
  /** The same callback (same ids) comes once more. */
  readonly repeated: number;
  /** After the callback another one, under its own id, says the opposite of the same trade. */
  readonly contradicted: number;
  /** The trade's amount is not the order's: one minor unit less. */
  readonly wrongAmount: number;
  /** One more callback, for an order that does not exist. */
  readonly unknownOrder: number;
}

/** What the channel does when it is asked; shares of the questions, 0…1 each. */
export interface ChannelAnswers {
  /** The answer comes after the deadline of whoever asked. */
  readonly slow: number;
  /** No answer at all. */
  readonly none: number;
  /** It says FAILED of money that it took and has called back about, or will. */
  readonly contradictory: number;
  /** A refund is PENDING when it is first asked for. */
  readonly refundPending: number;
}

/**
 * Clients who pay, with the payment channel that tells the system of it: `payer-plan.ts` expands it per order. A payer acts once, some time after it heard
 * of its order; the time is drawn evenly from the range of its kind.
 */
export interface PayerSpec {
  readonly shares: PayerShares;
  readonly channel: ChannelFaults;
  readonly answers: ChannelAnswers;
  /** When a payment is started, or the order cancelled. Milliseconds after the order was heard of. */
  readonly afterMsMin: number;
  readonly afterMsMax: number;
  /** When the first callback of a late one comes, after the order was heard of: beyond the payment window, or around its end so that payment and expiry meet. */
  readonly lateAfterMsMin: number;
  readonly lateAfterMsMax: number;
  /** Between the start of a payment and the channel's first callback (but of late ones), and between two callbacks. */
  readonly callbackAfterMs: number;
}

/** Bots, as shares of all arrivals, 0…1. */
export interface BotShares {
  readonly noPermit: number;
  /** Signed with another secret. */
  readonly forgedPermit: number;
  /** Signed rightly, and its time was over before the storm. */
  readonly expiredPermit: number;
  /** The permit of an earlier arrival of this user, with a new request id. */
  readonly replayedPermit: number;
  /** All bots together use so many devices, in turn. Everyone else has one of its own. */
  readonly devices: number;
}

/** Permits and device ids of the arrivals: everyone who is no bot shows a permit of its own. */
export interface PermitLoad {
  /** A permit's time, from the start of the storm on. */
  readonly validForMs: number;
  readonly bots: BotShares;
}

export interface LoadSpec {
  readonly seed: number;
  readonly ratePerSecond: number;
  readonly durationMs: number;
  readonly shape: ArrivalShape;
  readonly mix: TrafficMix;
  readonly transport: TransportName;
  /** Of `edge`. Left out: `json`. */
  readonly edgeForm?: EdgeForm;
  readonly activityId: ActivityId;
  readonly skuId: SkuId;
  /** A request without an answer after this is indeterminate. */
  readonly requestTimeoutMs: number;
  /** The load is another one when more than 1 % of its arrivals are issued later than this. For loads that promise no latency and so have none of their own to be late against. */
  readonly latenessBoundMs?: number;
  /** Sockets per generator; one request, or one batch, in flight each. */
  readonly connections: number;
  /** Accepted and indeterminate requests poll their Location this often until they hear a final state, and once after settling. */
  readonly pollIntervalMs: number;
  readonly pollsMax: number;
  /** null: nobody pays. */
  readonly payers: PayerSpec | null;
  /** null: nobody shows a permit or names a device. */
  readonly permits: PermitLoad | null;
}

export const DEFAULT_MIX: TrafficMix = { repeatShare: 0.1, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: null };

/** Append only: the numbers stand in saved plans' expansions. */
export const ARRIVAL_KINDS = [
  'fresh', 'repeat', 'same-user', 'conflict', 'malformed', 'no-permit', 'forged-permit', 'expired-permit', 'replayed-permit',
] as const;
export type ArrivalKind = (typeof ARRIVAL_KINDS)[number];

/** Arrivals without a good permit: where permits are asked for they must never get anything. */
export const PERMITLESS_KINDS: readonly ArrivalKind[] = ['no-permit', 'forged-permit', 'expired-permit'];
/** Those, and a permit shown a second time, which counts for one request id only: the first that reaches a gateway with it. */
export const BOT_KINDS: readonly ArrivalKind[] = [...PERMITLESS_KINDS, 'replayed-permit'];
