/**
 * The life of one reservation request, independent of HTTP: validate → funnel → window → reserve in Redis → hand the message to the broker →
 * answer. What cannot be proved is not claimed: an unknown reserve is RESULT_UNKNOWN and never a refusal, an unconfirmed hand-off is
 * QUEUED_PENDING_MESSAGE and releases nothing (DESIGN §4).
 */
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
import type { GatewayFunnel } from './funnel/gateway-funnel.js';
import { openFunnel } from './funnel/open-funnel.js';
import { createPatience, type Patience } from './patience.js';
import { freshId } from './fresh-id.js';
import { createSentMarker } from './sent-marker.js';
import { createSharedAnswers } from './shared-answers.js';
import { validateReservation, type RawReservation, type ValidReservation } from './validate.js';

/** Decides one request; what needs no waiting comes without a promise. Never rejects for an operating failure. */
export type Submit = (raw: RawReservation) => GatewayAnswer | Promise<GatewayAnswer>;

export interface Submitter {
  readonly submit: Submit;
  /** The same for a request that has been checked. */
  decide(request: ValidReservation): GatewayAnswer | Promise<GatewayAnswer>;
  /** This SKU is sold here. */
  sells(sku: SkuKey): boolean;
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
  readonly #announces: boolean;
  readonly #shareRepeats = createSharedAnswers();

  constructor(deps: SubmitDependencies) {
    const { stock, config, surroundings: { clock, observer } } = deps;
    this.#deps = deps;
    this.#announces = observer !== silentStepObserver;
    this.#window = deps.window ?? createActivityWindow(stock, clock);
    this.#funnel = deps.funnel ?? openFunnel(deps);
    this.#marker = createSentMarker(stock, observer);
    const announced = announcedStock(stock, observer);
    const options = { deadlineMs: config.tuning.reserveTimeoutMs, queueLimit: config.tuning.maxInFlight };
    this.#patience = createPatience(config.tuning.answerWithinMs);
    this.#batchers = new Map(config.skuIds.map((skuId) => [skuId, createReserveBatcher(announced, { activityId: config.activityId, skuId }, options)]));
    for (const [skuId, batcher] of this.#batchers) this.#funnel.watchLine(skuId, () => batcher.unanswered);
  }

  readonly submit = (raw: RawReservation): GatewayAnswer | Promise<GatewayAnswer> => {
    const validated = validateReservation(raw);
    return validated.ok ? this.decide(validated.value) : answers.invalid(validated.problems, validated.requestId);
  };

  #batcherOf({ activityId, skuId }: SkuKey): ReserveBatcher | undefined {
    return activityId === this.#deps.config.activityId ? this.#batchers.get(skuId) : undefined;
  }

  sells(sku: SkuKey): boolean {
    return this.#batcherOf(sku) !== undefined;
  }

  decide(value: ValidReservation): GatewayAnswer | Promise<GatewayAnswer> {
    const batcher = this.#batcherOf(value.sku);
    if (batcher === undefined) return answers.notFound();
    if (this.#funnel.isKnown(value)) {
      const { sku: { skuId }, requestId, userId, payloadHash } = value;
      const shared = this.#shareRepeats(`${skuId} ${requestId} ${userId}`, payloadHash, () => this.#admitted(value, batcher));
      if (shared !== null) return shared;
    }
    const verdict = this.#funnel.pass(value);
    if (verdict instanceof Promise) return verdict.then((later) => later ?? this.#inHand(value, batcher));
    return verdict ?? this.#inHand(value, batcher);
  }

  async #inHand(value: ValidReservation, batcher: ReserveBatcher): Promise<GatewayAnswer> {
    try {
      return await this.#admitted(value, batcher);
    } finally {
      this.#funnel.leave(value);
    }
  }

  async #admitted(valid: ValidReservation, batcher: ReserveBatcher): Promise<GatewayAnswer> {
    const reservedAtMs = this.#deps.surroundings.clock.nowMs();
    const request: ReserveRequest = {
      requestId: valid.requestId,
      userId: valid.userId,
      payloadHash: valid.payloadHash,
      // Made before the call and stored by it, so that whoever finishes this reservation uses the same two ids.
      reservationId: freshId(),
      messageId: freshId(),
      reservedAtMs,
      expiresAtMs: reservedAtMs + this.#deps.config.tuning.reservationTtlMs,
    };
    if (this.#announces) await this.#announce('gateway.admitted', request.reservationId);
    const check = this.#window.check(valid.sku);
    const window = check instanceof Promise ? await check : check;
    if (window.state === 'unavailable') return answers.unavailable(valid.requestId);
    if (window.state === 'not-started') return answers.notStarted(valid.requestId, window.startsInMs);
    if (window.state === 'ended') return this.#afterTheEnd(valid);
    const askedAtMs = performance.now();
    let reply = await this.#reserve(batcher, request);
    // The configuration or the epoch has just changed, and nothing was reserved: the new one decides.
    if (reply.outcome === 'done' && reply.decision.code === ReserveCode.EPOCH_MISMATCH) reply = await this.#reserve(batcher, request);
    const answer = await this.#reserved(valid, reply, askedAtMs);
    if (this.#announces) await this.#announce('gateway.before-reply', answer.answer.reservationId ?? request.reservationId);
    return answer;
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

  async #reserve(batcher: ReserveBatcher, request: ReserveRequest): Promise<SubmitReply> {
    try {
      return await batcher.submit(request);
    } catch (error) {
      // A bug in the stock. Whether Redis ran the script is not known, and the answer must not pretend.
      this.#deps.surroundings.log('error', 'the reserve call failed by a bug', { reason: String(error) });
      return { outcome: 'unknown', reason: String(error) };
    }
  }

  async #reserved(valid: ValidReservation, reply: SubmitReply, askedAtMs: number): Promise<GatewayAnswer> {
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
        return record === null ? answers.resultUnknown(sku, requestId) : this.#handOff(sku, record, askedAtMs);
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

  /** Reserved. From here on the client hears an acceptance whatever the broker does: the scanner finishes what stays PENDING. */
  async #handOff(sku: SkuKey, record: StockRecord, reservedAtMs: number): Promise<GatewayAnswer> {
    const confirmed = await this.#patience.of(this.#send(sku, record), reservedAtMs);
    return answers.accepted(sku, record.requestId, record.reservationId, confirmed);
  }

  /** Whether the broker has confirmed the message. */
  async #send(sku: SkuKey, record: StockRecord): Promise<boolean> {
    const { requestId, reservationId } = record;
    if (this.#announces) await this.#announce('gateway.before-send', reservationId);
    const { outcome } = await this.#deps.producer.send(this.#deps.config.namespace.ordersTopic, { key: reservationId, value: messageOf(sku, record) });
    if (this.#announces) await this.#announce('gateway.after-send', reservationId);
    this.#funnel.sent(outcome);
    const confirmed = outcome === 'sent';
    if (confirmed) await this.#marker.mark(sku, requestId, reservationId);
    return confirmed;
  }

  async #announce(step: StepName, id: string): Promise<void> {
    await this.#deps.surroundings.observer.reached(step, [id]);
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
