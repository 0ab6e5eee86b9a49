/**
 * The admission funnel of the gateway as configuration: which layers stand in front of the reserve call, and how tight each one is (paper `000` §10.1,
 * `004` §2 and §9). A scenario that wants a layer writes `tuning: { funnel: { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, permit: true } } }`.
 *
 * A repeat of a request that the gateway knows to be accepted passes every layer, whatever is closed.
 */

/** In the order in which a request meets them: cheap ones first, and what waits or asks a store last. */
export const FUNNEL_LAYERS = [
  'sold-out-mark', 'permit', 'user-bucket', 'device-bucket', 'instance-bucket', 'breaker', 'admission-limit', 'unpaid-holds', 'waiting-room', 'line', 'in-flight',
] as const;
export type FunnelLayerName = (typeof FUNNEL_LAYERS)[number];

/**
 * What the entry of a SKU says to a new request, and what it hears: OPEN (decided by Redis) · THROTTLED `429 LIMITED` · QUEUE_FULL `429 QUEUE_FULL` ·
 * TEMP_SOLD_OUT `410 TEMP_SOLD_OUT` · FINAL_SOLD_OUT `410 FINAL_SOLD_OUT` · PAUSED `503 PAUSED` or `503 UNAVAILABLE`. The last two are for the page only.
 */
export const ENTRY_STATES = ['OPEN', 'THROTTLED', 'QUEUE_FULL', 'TEMP_SOLD_OUT', 'FINAL_SOLD_OUT', 'PAUSED', 'NOT_STARTED', 'ENDED'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** A bucket that fills at `perSecond` up to `burst`. */
export interface BucketTuning {
  readonly perSecond: number;
  readonly burst: number;
}

export interface FunnelTuning {
  /** A layer that is off is as if it were not there. */
  readonly layers: Readonly<Record<FunnelLayerName, boolean>>;
  /**
   * How long "sold out" may be answered from memory after Redis has proved it. Units that come back are not sold before this has passed, so that no
   * gateway still refuses a request that another one has accepted meanwhile: must be the same for every gateway of a namespace.
   */
  readonly soldOutMarkMs: number;
  /** `Retry-After` of TEMP_SOLD_OUT: when another try makes sense. */
  readonly tempSoldOutRetryMs: number;
  /** `Retry-After` of FINAL_SOLD_OUT: how long a cache in front may keep it. */
  readonly finalSoldOutRetryMs: number;
  /** Key of the permits' HMAC (domain/permit.ts), shared with whoever issues them. */
  readonly permitSecret: string;
  /** Spent nonces, of permits that end within one hour, that the book of all gateways may hold; beyond, the layer refuses new permits rather than forget old ones. */
  readonly spentPermitsMax: number;
  readonly userBucket: BucketTuning;
  /** Requests without `X-Device-Id` have no device bucket. */
  readonly deviceBucket: BucketTuning;
  readonly instanceBucket: BucketTuning;
  /** Users and devices whose buckets one gateway remembers; the longest unseen goes first. */
  readonly bucketsMax: number;
  readonly breaker: {
    /** Sends in a row without confirmation that open it. */
    readonly failures: number;
    /** Open for at least this long; then the broker is asked, and the first requests after its answer are the probe. */
    readonly openMs: number;
  };
  readonly admission: AdmissionTuning;
  /** Most unpaid units in an activity, counted over all gateways. */
  readonly unpaidHolds: { readonly perUser: number; readonly perDevice: number };
  readonly waitingRoom: {
    /** Requests are collected this long, from the first on, and drawn from together. */
    readonly windowMs: number;
    /** With the ids that took part, the draw can be done again by anybody. */
    readonly seed: number;
    /** Drawn of one round. */
    readonly places: number;
    readonly participantsMax: number;
  };
}

/**
 * Reservations under way (accepted, no result yet) may be at most min(stock left + `stockMargin`, consumer rate × `maxWaitMs`, `downstreamCapacity`), narrowed from
 * `narrowFromAgeMs` on as the oldest message ages, and nothing at all from `closeAtAgeMs` on. Reopens in doubling batches.
 */
export interface AdmissionTuning {
  readonly periodMs: number;
  readonly stockMargin: number;
  readonly maxWaitMs: number;
  /** Messages a second that the consumers are taken to manage until it has been measured. */
  readonly consumerRatePerSecond: number;
  readonly downstreamCapacity: number;
  readonly narrowFromAgeMs: number;
  /** Below the bound that is promised by at least a control period and a reserve time-out. */
  readonly closeAtAgeMs: number;
  /** Share of the limit that is this gateway's: 1 / number of gateways. */
  readonly share: number;
}

/** As if only the bound on requests in flight were there. */
export const DEFAULT_FUNNEL: FunnelTuning = {
  layers: {
    'sold-out-mark': false, permit: false, 'user-bucket': false, 'device-bucket': false, 'instance-bucket': false, breaker: false, 'admission-limit': false,
    'unpaid-holds': false, 'waiting-room': false, line: false, 'in-flight': true,
  },
  soldOutMarkMs: 500,
  tempSoldOutRetryMs: 1_000,
  finalSoldOutRetryMs: 60_000,
  permitSecret: 'set a secret of your own',
  spentPermitsMax: 1_000_000,
  userBucket: { perSecond: 5, burst: 10 },
  deviceBucket: { perSecond: 20, burst: 40 },
  instanceBucket: { perSecond: 20_000, burst: 20_000 },
  bucketsMax: 200_000,
  breaker: { failures: 20, openMs: 1_000 },
  admission: {
    periodMs: 100, stockMargin: 200, maxWaitMs: 3_000, consumerRatePerSecond: 1_000, downstreamCapacity: 20_000, narrowFromAgeMs: 1_000, closeAtAgeMs: 2_000, share: 1,
  },
  unpaidHolds: { perUser: 1, perDevice: 3 },
  waitingRoom: { windowMs: 500, seed: 1, places: 1_000, participantsMax: 100_000 },
};
