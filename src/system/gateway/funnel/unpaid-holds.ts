/**
 * Limits how many unpaid units one user and one device hold (paper `004` §9: scalpers block stock without ever buying), counted by all gateways together in the book in
 * Redis: a request takes its place before it may reserve, and gives it back where it reserved nothing. Whoever is at his limit is refused at once, and his holds are then
 * looked up in PostgreSQL in the background: paid and ended ones no longer count at his next try. The same request at two gateways at once has one place, and each of them a
 * share in it: neither can give away the place that the other needs. Without the book nobody new gets a place: fail closed.
 */
import type { FunnelTuning } from '../../../domain/funnel.js';
import type { ActivityId } from '../../../domain/ids.js';
import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableRequestState, RequestReader } from '../../ledger/ledger-port.js';
import { createCallBatcher } from '../../stock/call-batcher.js';
import { holderOf, type EntryBook, type Hold, type HoldAsked, type HoldGivenBack } from '../../stock/entry-book.js';
import type { RateLimit } from '../admission.js';
import { holdLimit, unavailable } from '../answers.js';
import { freshId } from '../../fresh-id.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

export interface UnpaidHolds extends FunnelLayer {
  /** Told of every request that reserved, may have, or has a live reservation: it keeps its place. */
  accepted(request: ValidReservation): void;
  /** Told of every request that has come to its end here: a share that it does not need is given back. */
  leave(request: ValidReservation): void;
}

export interface UnpaidHoldsOptions {
  readonly activityId: ActivityId;
  readonly tuning: FunnelTuning['unpaidHolds'];
  readonly book: Pick<EntryBook, 'takeHolds' | 'dropHolds'>;
  readonly reader: Pick<RequestReader, 'lookup'>;
  /** Look-ups in PostgreSQL. */
  readonly limit: RateLimit;
  /** No hold lasts longer: reservation and payment window together. */
  readonly holdLastsMs: number;
  /** A reservation that PostgreSQL has not seen after this will never be an order. */
  readonly reservationLastsMs: number;
}

/** Paid, or given back: the holder is free to take another. */
function hasEnded({ reservationStatus, orderStatus }: DurableRequestState): boolean {
  if (orderStatus !== null) return orderStatus !== OrderStatus.CREATED && orderStatus !== OrderStatus.PAYING;
  return reservationStatus !== ReservationStatus.PENDING_DB && reservationStatus !== ReservationStatus.ORDERED;
}

function sharesOf({ sku, requestId, userId, deviceId }: ValidReservation, share: string): HoldGivenBack[] {
  const ofUser = { holder: holderOf('user', userId), sku, requestId, share };
  return deviceId === null ? [ofUser] : [ofUser, { holder: holderOf('device', deviceId), sku, requestId, share }];
}

/** The random end of a fresh id: shares of one place are few. */
function freshShare(): string {
  return freshId().slice(-12);
}

class Holds implements UnpaidHolds {
  readonly name = 'unpaid-holds';
  readonly #options: UnpaidHoldsOptions;
  readonly #take;
  readonly #drop;
  /** Requests in hand with their share in a place, as long as it is not known whether they need it. */
  readonly #undecided = new WeakMap<ValidReservation, string>();
  readonly #looking = new Set<string>();

  constructor(options: UnpaidHoldsOptions) {
    this.#options = options;
    const { book, activityId, tuning, holdLastsMs } = options;
    this.#take = createCallBatcher((asked: readonly HoldAsked[]) => book.takeHolds(activityId, asked, { ...tuning, lastsMs: holdLastsMs }));
    this.#drop = createCallBatcher(async (places: readonly HoldGivenBack[]) => {
      const reply = await book.dropHolds(activityId, places);
      return reply.outcome === 'done' ? { outcome: 'done', value: places.map(() => true) } : reply;
    });
  }

  async pass(request: ValidReservation): Promise<LayerVerdict> {
    const { sku, requestId, userId, deviceId } = request;
    const share = freshShare();
    const reply = await this.#take({ sku, requestId, userId, deviceId, share });
    if (reply.outcome !== 'done') {
      // It may have been taken after all.
      if (reply.outcome === 'unknown') this.#giveBack(sharesOf(request, share));
      return unavailable(requestId);
    }
    if (reply.value.kind !== 'full') {
      this.#undecided.set(request, share);
      return null;
    }
    const { whose, holds } = reply.value;
    void this.#lookUp(whose === 'USER' ? holderOf('user', userId) : holderOf('device', deviceId ?? ''), holds);
    return holdLimit(requestId, whose);
  }

  accepted(request: ValidReservation): void {
    this.#undecided.delete(request);
  }

  leave(request: ValidReservation): void {
    const share = this.#undecided.get(request);
    if (share === undefined) return;
    this.#undecided.delete(request);
    this.#giveBack(sharesOf(request, share));
  }

  /** Best effort: a place that stays taken by mistake is freed by a look-up when its holder comes back, or by its time. */
  #giveBack(shares: readonly HoldGivenBack[]): void {
    for (const share of shares) void this.#drop(share);
  }

  async #lookUp(holder: string, holds: readonly Hold[]): Promise<void> {
    if (this.#looking.has(holder)) return;
    this.#looking.add(holder);
    for (const { sku, requestId, ageMs } of holds) {
      if (!this.#options.limit.take()) break;
      const found = await this.#options.reader.lookup(sku, requestId);
      if (found.outcome !== 'done') continue;
      const over = found.state === null ? ageMs > this.#options.reservationLastsMs : hasEnded(found.state);
      if (over) await this.#drop({ holder, sku, requestId, share: null });
    }
    this.#looking.delete(holder);
  }
}

export function createUnpaidHolds(options: UnpaidHoldsOptions): UnpaidHolds {
  return new Holds(options);
}
