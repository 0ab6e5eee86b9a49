/**
 * The funnel of one gateway: makes the layers that its configuration asks for, tells them what became of the requests, and says how the entry stands.
 */
import type { EntryState } from '../../../domain/funnel.js';
import type { RoleConfig } from '../../../domain/role-config.js';
import { RedisRecordState } from '../../../domain/status-codes.js';
import type { SendOutcome } from '../../../domain/reason-codes.js';
import type { RequestReader } from '../../ledger/ledger-port.js';
import type { LogProducer } from '../../order-log/order-log-port.js';
import type { RoleMetrics } from '../../role-metrics.js';
import type { RoleSurroundings } from '../../role.js';
import type { EntryBook } from '../../stock/entry-book.js';
import type { SoldOut } from '../../stock/stock-port.js';
import type { StockView } from '../../stock/stock-view.js';
import { createRateLimit, type Admission } from '../admission.js';
import { refused, soldOut, type GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import { createAdmissionLimit, type AdmissionLimit } from './admission-limit.js';
import { createBrokerBreaker, type BrokerBreaker } from './broker-breaker.js';
import type { DownstreamGauge } from './downstream-gauge.js';
import { createFunnel, type Funnel, type StandingVerdict } from './funnel.js';
import { createInFlightLayer } from './in-flight.js';
import { createKnownRequests, type KnownRequests } from './known-requests.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';
import { createLineLayer, type LineLayer } from './line.js';
import { createPermitLayer } from './permit.js';
import { createSoldOutMark, type SoldOutMark } from './sold-out-mark.js';
import { createInstanceBucketLayer, createKeyedBucketLayer } from './token-bucket.js';
import { createUnpaidHolds, type UnpaidHolds } from './unpaid-holds.js';
import { createWaitingRoom } from './waiting-room.js';

export interface FunnelDependencies {
  readonly admission: Admission;
  readonly config: Pick<RoleConfig, 'activityId' | 'skuIds' | 'tuning' | 'instance'>;
  readonly surroundings: RoleSurroundings;
  readonly producer: Pick<LogProducer, 'ready'>;
  readonly reader: Pick<RequestReader, 'lookup' | 'unitsMayReturn'>;
  readonly metrics: Pick<RoleMetrics, 'counter' | 'gauge' | 'beforeText'>;
  /** Null where the stock is not Redis: then there is no sold-out mark and no admission limit. */
  readonly view: StockView | null;
  /** What all gateways share; null where the stock is not Redis: then permits and holds cannot be checked, and their layers must be off. */
  readonly book: EntryBook | null;
  /** Null: no admission limit. */
  readonly gauge: DownstreamGauge | null;
}

const HOLD_LOOKUPS_PER_SECOND = 100;
const HOLD_LOOKUPS_BURST = 100;
function theBook({ book }: FunnelDependencies, layer: string): EntryBook {
  if (book === null) throw new Error(`the layer ${layer} needs a stock in Redis, where all gateways share its book`);
  return book;
}

/** A refusal of this age still says how the entry stands. */
const RECENT_MS = 1_000;

function firstTime(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

/** Many refused at once, by hashes of their ids (`presence-filter.ts`). */
export interface StandingRefusal extends StandingVerdict {
  /** True: this one has to be looked at by himself. */
  mayExcept(requestHash: number, userHash: number): boolean;
}

export class GatewayFunnel {
  readonly #deps: FunnelDependencies;
  readonly #known: KnownRequests = createKnownRequests();
  readonly #marks: ReadonlyMap<string, SoldOutMark>;
  readonly #breaker: BrokerBreaker;
  readonly #instance: ReturnType<typeof createInstanceBucketLayer>;
  readonly #limit: AdmissionLimit | null;
  readonly #holds: UnpaidHolds | null;
  readonly #line: LineLayer = createLineLayer();
  readonly #funnel: Funnel;
  readonly #bounded: boolean;
  #pausedAtMs = -Infinity;
  #lastSkuId = '';
  #lastMark: SoldOutMark | undefined;

  constructor(deps: FunnelDependencies) {
    const { config, surroundings, producer, view, gauge, metrics } = deps;
    const { funnel: tuning } = config.tuning;
    this.#deps = deps;
    this.#bounded = tuning.layers['in-flight'];
    const skus = config.skuIds.map((skuId) => ({ activityId: config.activityId, skuId }));
    const knownSince = metrics.gauge('seckill_sold_out_mark_known_seconds', 'When this gateway first knew by itself that a SKU is sold out, in seconds since the epoch; 0: not yet');
    this.#marks = new Map(
      view === null || !tuning.layers['sold-out-mark']
        ? []
        : skus.map((sku) => [sku.skuId, createSoldOutMark({ sku, view, tuning, onKnown: firstTime(() => { knownSince.set(surroundings.clock.nowMs() / 1_000); }), unitsMayReturn: async () => (await deps.reader.unitsMayReturn?.(sku)) ?? null })]),
    );
    const breakerOpen = metrics.gauge('seckill_broker_breaker_open', '1 open, 0.5 half open, 0 closed');
    this.#breaker = createBrokerBreaker({
      tuning: tuning.breaker,
      brokerAnswers: () => producer.ready().catch(() => false),
      onChange: (state) => {
        breakerOpen.set(state === 'open' ? 1 : state === 'half-open' ? 0.5 : 0);
        surroundings.log(state === 'open' ? 'warn' : 'info', `the breaker in front of the broker is ${state}`);
      },
    });
    this.#instance = createInstanceBucketLayer(tuning.instanceBucket);
    this.#limit = gauge === null || !tuning.layers['admission-limit'] ? null : createAdmissionLimit({ skus, gauge, tuning: tuning.admission, metrics });
    this.#holds = tuning.layers['unpaid-holds'] ? this.#unpaidHolds(theBook(deps, 'unpaid-holds')) : null;
    this.#funnel = createFunnel(this.#layers(), tuning.layers, metrics);
  }

  #unpaidHolds(book: EntryBook): UnpaidHolds {
    const { config: { activityId, tuning }, reader } = this.#deps;
    return createUnpaidHolds({
      activityId, book, reader,
      tuning: tuning.funnel.unpaidHolds,
      limit: createRateLimit(HOLD_LOOKUPS_PER_SECOND, HOLD_LOOKUPS_BURST),
      holdLastsMs: tuning.reservationTtlMs + tuning.paymentWindowMs,
      reservationLastsMs: tuning.reservationTtlMs,
    });
  }

  #layers(): FunnelLayer[] {
    const { config, surroundings, admission } = this.#deps;
    const skus = config.skuIds.map((skuId) => ({ activityId: config.activityId, skuId }));
    const { funnel: tuning } = config.tuning;
    return [
      { name: 'sold-out-mark', pass: (request) => this.#markOf(request.sku.skuId)?.pass(request) ?? null, standing: (skuId) => this.#markOf(skuId)?.standing() ?? 'passes' },
      ...(tuning.layers.permit ? [createPermitLayer({ secret: tuning.permitSecret, spentMax: tuning.spentPermitsMax, book: theBook(this.#deps, 'permit'), skus })] : []),
      createKeyedBucketLayer('user-bucket', ({ userId }) => userId, tuning.userBucket, tuning.bucketsMax),
      createKeyedBucketLayer('device-bucket', ({ deviceId }) => deviceId, tuning.deviceBucket, tuning.bucketsMax),
      this.#instance,
      this.#breaker,
      ...(this.#limit === null ? [] : [this.#limit]),
      ...(this.#holds === null ? [] : [this.#holds]),
      createWaitingRoom({ tuning: tuning.waitingRoom, log: (...line) => { surroundings.log(...line); }, instance: config.instance }),
      this.#line,
      createInFlightLayer(admission),
    ];
  }

  /** Remembers the last one asked for: in a sale nearly all requests are for one SKU. */
  #markOf(skuId: string): SoldOutMark | undefined {
    if (skuId !== this.#lastSkuId) {
      this.#lastSkuId = skuId;
      this.#lastMark = this.#marks.get(skuId);
    }
    return this.#lastMark;
  }

  /** A repeat of what was accepted, as far as this gateway can know. It passes every layer, and does not `leave`. */
  isKnown(request: ValidReservation): boolean {
    const known = this.#known.has(request) || this.#markOf(request.sku.skuId)?.isAccepted(request.requestId, request.userId) === true;
    if (known) this.#funnel.passedAsKnown();
    return known;
  }

  /** Null: let in, and one `leave` is owed. */
  pass(request: ValidReservation): LayerVerdict | Promise<LayerVerdict> {
    const verdict = this.#funnel.pass(request);
    if (this.#holds === null || !(verdict instanceof Promise)) return verdict;
    return verdict.then((later) => {
      // A layer behind the one that gave it a place.
      if (later !== null) this.#holds?.leave(request);
      return later;
    });
  }

  /**
   * What everybody hears in this turn whom `mayExcept` denies; null: each has to be asked for by `isKnown` and `pass`. Says the same as those two would of each: who is
   * known, or is among the accepted, goes by other ways, and whoever is surely not is refused by the first layer that refuses all.
   */
  standingRefusal(skuId: string): StandingRefusal | null {
    const verdict = this.#funnel.standing(skuId);
    if (verdict === null) return null;
    const mark = this.#markOf(skuId);
    const known = this.#known;
    return { ...verdict, mayExcept: (requestHash, userHash) => known.mayHave(requestHash) || mark?.mayTouch(requestHash, userHash) === true };
  }

  leave(request: ValidReservation): void {
    this.#holds?.leave(request);
    if (this.#bounded) this.#deps.admission.leave();
  }

  /** A new reservation, or one that may have been made. `epoch`: of the Redis that surely holds it. */
  accepted(request: ValidReservation, epoch?: string): void {
    const { sku: { skuId }, requestId, userId } = request;
    this.#known.add(skuId, requestId, userId);
    if (epoch !== undefined) this.#marks.get(skuId)?.accepted(epoch, requestId, userId);
    this.#holds?.accepted(request);
  }

  /** Redis has shown the record of this very request, `state`. While its unit is held it needs its place, whoever reserved it: the place may be the one of this try alone. */
  repeated(request: ValidReservation, state: RedisRecordState | null, epoch?: string): void {
    const { sku, requestId, userId } = request;
    this.#known.add(sku.skuId, requestId, userId);
    if (epoch !== undefined) this.#marks.get(sku.skuId)?.accepted(epoch, requestId, userId);
    if (state !== RedisRecordState.REJECTED && state !== RedisRecordState.RELEASED) this.#holds?.accepted(request);
  }

  /** How many requests of a SKU wait for the answer of Redis is asked here. */
  watchLine(skuId: string, unanswered: () => number): void {
    this.#line.watch(skuId, unanswered);
  }

  stockLeft(skuId: string, units: number): void {
    this.#line.stockLeft(skuId, units);
  }

  /** Redis said SOLD_OUT; what the client hears. `askedAtMs`: monotonic, before the call. */
  soldOut({ sku, requestId }: ValidReservation, proof: SoldOut | null, askedAtMs: number): GatewayAnswer {
    const mark = this.#marks.get(sku.skuId);
    if (mark === undefined) return refused('SOLD_OUT', requestId);
    if (proof !== null) mark.told(proof, askedAtMs);
    const kind = mark.kindIfSoldOut;
    return soldOut(kind, requestId, mark.retryAfterMs(kind));
  }

  sent(outcome: SendOutcome): void {
    if (this.#deps.config.tuning.funnel.layers.breaker) this.#breaker.sent(outcome);
  }

  paused(): void {
    this.#pausedAtMs = performance.now();
  }

  /** How the entry of a SKU stands for a new request, from memory alone. */
  entryState(skuId: string): EntryState {
    const { layers } = this.#deps.config.tuning.funnel;
    const now = performance.now();
    if (now - this.#pausedAtMs < RECENT_MS) return 'PAUSED';
    const kind = this.#marks.get(skuId)?.kind() ?? null;
    if (kind !== null) return kind;
    if (layers.breaker && this.#breaker.state !== 'closed') return 'PAUSED';
    const limit = this.#limit?.stateOf(skuId) ?? 'open';
    if (limit === 'closed') return 'QUEUE_FULL';
    if (limit === 'narrowed' || now - this.#instance.lastRefusedAtMs < RECENT_MS) return 'THROTTLED';
    return 'OPEN';
  }

  get counts(): Funnel['counts'] {
    return this.#funnel.counts;
  }

  async close(): Promise<void> {
    await this.#limit?.close();
  }
}
