/**
 * The life of one reservation request, independent of HTTP: validate → funnel → window → reserve in Redis → hand the message to the broker →
 * answer. What cannot be proved is not claimed: an unknown reserve is RESULT_UNKNOWN and never a refusal, an unconfirmed hand-off is
 * QUEUED_PENDING_MESSAGE and releases nothing (DESIGN §4).
 */
import type { Clock } from '../../domain/clock.js';
import type { SkuKey } from '../../domain/ids.js';
import type { Namespace } from '../../domain/namespace.js';
import { encodeOrderMessage } from '../../domain/order-message.js';
import { ReserveCode } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { silentStepObserver, type StepName, type StepObserver } from '../../domain/steps.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import { createReserveBatcher, type ReserveBatcher, type SubmitReply } from '../stock/reserve-batcher.js';
import type { ReserveRequest, StockPort, StockRecord } from '../stock/stock-port.js';
import { createActivityWindow, type ActivityWindow } from './activity-window.js';
import type { Admission } from './admission.js';
import * as answers from './answers.js';
import type { GatewayAnswer } from './answers.js';
import type { GatewayFunnel, StandingRefusal } from './funnel/gateway-funnel.js';
import { openFunnel } from './funnel/open-funnel.js';
import { createHandOffs, type HandOffs } from './hand-offs.js';
import { createPatience, type Patience } from './patience.js';
import { freshId } from '../fresh-id.js';
import { createSentMarker } from './sent-marker.js';
import { createSharedAnswers } from './shared-answers.js';
import { validateReservation, type RawReservation, type ValidReservation } from './validate.js';

/** Decides one request; what needs no waiting comes without a promise. Never rejects for an operating failure. */
export type Submit = (raw: RawReservation) => GatewayAnswer | Promise<GatewayAnswer>;

export interface Submitter {
  readonly submit: Submit;
  /** The same for a request that has been checked. */
  decide(request: ValidReservation): GatewayAnswer | Promise<GatewayAnswer>;
  /** What everybody hears in this turn but those whom it excepts (funnel/gateway-funnel.ts); null: each has to be decided by himself. Of a SKU that is sold here. */
  standingRefusal(sku: SkuKey): StandingRefusal | null;
  /** This SKU is sold here. */
  sells(sku: SkuKey): boolean;
  /** Begins the hand-offs that linger: before the producer is closed. */
  close(): void;
}

export interface SubmitDependencies {
  readonly stock: StockPort;
  readonly producer: LogProducer;
  readonly admission: Admission;
  readonly config: Pick<RoleConfig, 'activityId' | 'skuIds' | 'tuning'> & { readonly namespace: Pick<Namespace, 'ordersTopic'> };
  readonly surroundings: RoleSurroundings;
  /** Left out: only `admission` stands in the way. */
  readonly funnel?: GatewayFunnel;
  /** Left out: one of its own. */
  readonly window?: ActivityWindow;
}

/** A reservation whose message is on its way to the broker; `waits`: whether the broker has confirmed it, as far as is waited for. */
interface HandOff {
  readonly record: StockRecord;
  readonly waits: Promise<boolean>;
}

/** Announces the reserve steps once a call, with the ids that the call decides; a call that reserved nothing changes nothing to recover. */
function announcedStock(stock: StockPort, observer: StepObserver): Pick<StockPort, 'reserve'> {
  if (observer === silentStepObserver) return stock;
  return {
    async reserve(sku, requests) {
      const ids = requests.map(({ reservationId }) => reservationId);
      await observer.reached('gateway.before-reserve', ids);
      const reply = await stock.reserve(sku, requests);
      const touched = reply.outcome === 'done' ? ids.filter((_id, index) => reply.decisions[index]?.code === ReserveCode.RESERVED) : ids;
      if (reply.outcome !== 'surely-not-done' && touched.length > 0) {
        const announced = observer.reached('gateway.after-reserve', touched);
        // Not awaited for nothing: a call that reserved must not fall behind the next one, whose refusals tell how many were accepted before them.
        if (announced instanceof Promise) await announced;
      }
      return reply;
    },
  };
}

class Submission implements Submitter {
  readonly #deps: SubmitDependencies;
  readonly #window: ActivityWindow;
  readonly #funnel: GatewayFunnel;
  readonly #marker;
  readonly #batchers: ReadonlyMap<string, ReserveBatcher>;
  readonly #patience: Patience;
  readonly #handOffs: HandOffs;
  readonly #announces: boolean;
  // Out of what they lie in: compiled code would rely on the shape of each container on the way.
  readonly #clock: Clock;
  readonly #observer: StepObserver;
  readonly #producer: LogProducer;
  readonly #ordersTopic: string;
  readonly #activityId: string;
  readonly #ttlMs: number;
  readonly #shareRepeats = createSharedAnswers();
  #lastSku: SkuKey | null = null;
  #lastBatcher: ReserveBatcher | undefined;

  constructor(deps: SubmitDependencies) {
    const { stock, config, surroundings: { clock, observer } } = deps;
    this.#deps = deps;
    this.#clock = clock;
    this.#observer = observer;
    this.#producer = deps.producer;
    this.#ordersTopic = config.namespace.ordersTopic;
    this.#activityId = config.activityId;
    this.#ttlMs = config.tuning.reservationTtlMs;
    this.#announces = observer !== silentStepObserver;
    this.#window = deps.window ?? createActivityWindow(stock, clock);
    this.#funnel = deps.funnel ?? openFunnel(deps);
    this.#marker = createSentMarker(stock, observer);
    const announced = announcedStock(stock, observer);
    const options = { deadlineMs: config.tuning.reserveTimeoutMs, queueLimit: config.tuning.maxInFlight };
    this.#patience = createPatience(config.tuning.answerWithinMs);
    this.#handOffs = createHandOffs(config.tuning.producerLingerMs);
    this.#batchers = new Map(config.skuIds.map((skuId) => [skuId, createReserveBatcher(announced, { activityId: config.activityId, skuId }, options)]));
    for (const [skuId, batcher] of this.#batchers) this.#funnel.watchLine(skuId, () => batcher.unanswered);
  }

  readonly submit = (raw: RawReservation): GatewayAnswer | Promise<GatewayAnswer> => {
    const validated = validateReservation(raw);
    return validated.ok ? this.decide(validated.value) : answers.invalid(validated.problems, validated.requestId);
  };

  /** Remembers the last SKU asked for: the items of a batch share one. */
  #batcherOf(sku: SkuKey): ReserveBatcher | undefined {
    if (sku === this.#lastSku) return this.#lastBatcher;
    this.#lastSku = sku;
    this.#lastBatcher = sku.activityId === this.#activityId ? this.#batchers.get(sku.skuId) : undefined;
    return this.#lastBatcher;
  }

  sells(sku: SkuKey): boolean {
    return this.#batcherOf(sku) !== undefined;
  }

  close(): void {
    this.#handOffs.flush();
  }

  standingRefusal({ skuId }: SkuKey): StandingRefusal | null {
    return this.#funnel.standingRefusal(skuId);
  }

  decide(value: ValidReservation): GatewayAnswer | Promise<GatewayAnswer> {
    const batcher = this.#batcherOf(value.sku);
    if (batcher === undefined) return answers.notFound();
    if (this.#funnel.isKnown(value)) {
      const { sku: { skuId }, requestId, userId, payloadHash } = value;
      const shared = this.#shareRepeats(`${skuId} ${requestId} ${userId}`, payloadHash, () => this.#admitted(value, batcher, false));
      if (shared !== null) return shared;
    }
    const verdict = this.#funnel.pass(value);
    if (verdict instanceof Promise) return verdict.then((later) => later ?? this.#admitted(value, batcher, true));
    return verdict ?? this.#admitted(value, batcher, true);
  }

  /**
   * Past the funnel; `owesLeave`: the funnel is told when it has its answer. One asynchronous function for the whole way, and no promise that is not waited for: ten thousand
   * winners are on it at once, and each promise of theirs is copied by every collection of the young.
   */
  async #admitted(valid: ValidReservation, batcher: ReserveBatcher, owesLeave: boolean): Promise<GatewayAnswer> {
    try {
      const request = this.#requestOf(valid);
      const admitted = this.#announce('gateway.admitted', request.reservationId);
      if (admitted !== null) await admitted;
      const check = this.#window.check(valid.sku);
      const window = check instanceof Promise ? await check : check;
      if (window.state === 'unavailable') return answers.unavailable(valid.requestId);
      if (window.state === 'not-started') return answers.notStarted(valid.requestId, window.startsInMs);
      if (window.state === 'ended') return await this.#afterTheEnd(valid);
      const askedAtMs = performance.now();
      let reply: SubmitReply;
      try {
        reply = await batcher.submit(request);
        // The configuration or the epoch has just changed, and nothing was reserved: the new one decides.
        if (reply.outcome === 'done' && reply.decision.code === ReserveCode.EPOCH_MISMATCH) reply = await batcher.submit(request);
      } catch (error) {
        reply = this.#reserveFailed(error);
      }
      const reserved = this.#reserved(valid, reply, askedAtMs);
      const answer = 'waits' in reserved ? answers.accepted(valid.sku, reserved.record.requestId, reserved.record.reservationId, await reserved.waits) : reserved;
      const replies = this.#announce('gateway.before-reply', answer.answer.reservationId ?? request.reservationId);
      if (replies !== null) await replies;
      return answer;
    } finally {
      if (owesLeave) this.#funnel.leave(valid);
    }
  }

  #requestOf({ requestId, userId, payloadHash }: ValidReservation): ReserveRequest {
    const reservedAtMs = this.#clock.nowMs();
    // Ids are made before the call and stored by it, so that whoever finishes this reservation uses the same two.
    return { requestId, userId, payloadHash, reservationId: freshId(), messageId: freshId(), reservedAtMs, expiresAtMs: reservedAtMs + this.#ttlMs };
  }

  /** The window closes for new requests only: who was accepted before may repeat his request and hear its state. */
  async #afterTheEnd(valid: ValidReservation): Promise<GatewayAnswer> {
    const { sku, requestId, userId, payloadHash } = valid;
    const reply = await this.#deps.stock.lookup(sku, requestId);
    if (reply.outcome !== 'done') return answers.unavailable(requestId);
    if (reply.record?.userId !== userId || reply.record.payloadHash !== payloadHash) return answers.ended(requestId);
    this.#funnel.repeated(valid, reply.record.state);
    return answers.stateOfRecord(sku, reply.record);
  }

  /** A bug in the stock. Whether Redis ran the script is not known, and the answer must not pretend. */
  #reserveFailed(error: unknown): SubmitReply {
    this.#deps.surroundings.log('error', 'the reserve call failed by a bug', { reason: String(error) });
    return { outcome: 'unknown', reason: String(error) };
  }

  #reserved(valid: ValidReservation, reply: SubmitReply, askedAtMs: number): GatewayAnswer | HandOff {
    const { sku, requestId } = valid;
    if (reply.outcome === 'unknown') {
      this.#funnel.accepted(valid);
      return answers.resultUnknown(sku, requestId);
    }
    if (reply.outcome !== 'done') return answers.unavailable(requestId);
    const { code, record, stockLeft, epoch } = reply.decision;
    if (stockLeft !== null) this.#funnel.stockLeft(sku.skuId, stockLeft);
    switch (code) {
      case ReserveCode.RESERVED:
        this.#funnel.accepted(valid, epoch);
        // From here on the client hears an acceptance whatever the broker does: the scanner finishes what stays PENDING.
        return record === null ? answers.resultUnknown(sku, requestId) : { record, waits: this.#patience.of(this.#handOffs.of(() => this.#send(sku, record)), askedAtMs) };
      case ReserveCode.REPEATED:
        this.#funnel.repeated(valid, record?.state ?? null, epoch);
        return record === null ? answers.resultUnknown(sku, requestId) : answers.stateOfRecord(sku, record);
      case ReserveCode.IDEMPOTENCY_CONFLICT:
      case ReserveCode.USER_HAS_ONE:
        return answers.refused(code, requestId);
      case ReserveCode.SOLD_OUT:
        return this.#funnel.soldOut(valid, reply.decision.soldOut ?? null, askedAtMs);
      case ReserveCode.NOT_READY:
        return answers.unavailable(requestId);
      case ReserveCode.EPOCH_MISMATCH:
      case ReserveCode.PAUSED:
        this.#funnel.paused();
        return answers.paused(requestId);
    }
  }

  /** Whether the broker has confirmed the message. */
  async #send(sku: SkuKey, record: StockRecord): Promise<boolean> {
    const { requestId, reservationId } = record;
    const sends = this.#announce('gateway.before-send', reservationId);
    if (sends !== null) await sends;
    const { outcome } = await this.#producer.send(this.#ordersTopic, { key: reservationId, value: messageOf(sku, record) });
    const sent = this.#announce('gateway.after-send', reservationId);
    if (sent !== null) await sent;
    this.#funnel.sent(outcome);
    const confirmed = outcome === 'sent';
    if (confirmed) await this.#marker.mark(sku, requestId, reservationId);
    return confirmed;
  }

  /** Null: nothing to wait for, which is so nearly always. */
  #announce(step: StepName, id: string): Promise<void> | null {
    if (!this.#announces) return null;
    const announced = this.#observer.reached(step, [id]);
    return announced instanceof Promise ? announced : null;
  }
}

function messageOf(sku: SkuKey, record: StockRecord): string {
  const { messageId, reservationId, requestId, activityVersion, userId, purchaseNo, payloadHash, reservedAtMs, expiresAtMs } = record;
  const { activityId, skuId } = sku;
  return encodeOrderMessage({
    schemaVersion: 1, messageId, reservationId, requestId, activityId, activityVersion, skuId, userId, purchaseNo, quantity: 1, payloadHash, reservedAtMs, expiresAtMs,
  });
}

/** What decides the requests of one gateway. Owns no connection: `stock` and `producer` are closed by their owner. */
export function createSubmitter(deps: SubmitDependencies): Submitter {
  return new Submission(deps);
}

/** Its submit function alone. */
export function createSubmit(deps: SubmitDependencies): Submit {
  return createSubmitter(deps).submit;
}
