/**
 * Limits how many unpaid units one user and one device hold (paper `004` §9: scalpers block stock without ever buying), counted by all gateways together in the book in
 * Redis: a request takes its place before it may reserve, and gives it back where it reserved nothing. Whoever is at his limit is refused at once, and his holds are then
 * looked up in PostgreSQL in the background: paid and ended ones no longer count at his next try. Without the book nobody new gets a place: fail closed.
 */
import type { FunnelTuning } from '../../../domain/funnel.js';
import type { ActivityId } from '../../../domain/ids.js';
import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableRequestState, RequestReader } from '../../ledger/ledger-port.js';
import { createCallBatcher } from '../../stock/call-batcher.js';
import { holderOf, type EntryBook, type Hold, type HoldAsked } from '../../stock/entry-book.js';
import type { RateLimit } from '../admission.js';
import { holdLimit, unavailable } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

export interface UnpaidHolds extends FunnelLayer {
  /** Told of every request that reserved, or may have: it keeps its place. */
  accepted(request: ValidReservation): void;
  /** Told of every request that has come to its end here: a place that it took and does not need is given back. */
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

type Place = Parameters<EntryBook['dropHolds']>[1][number];

/** Paid, or given back: the holder is free to take another. */
function hasEnded({ reservationStatus, orderStatus }: DurableRequestState): boolean {
  if (orderStatus !== null) return orderStatus !== OrderStatus.CREATED && orderStatus !== OrderStatus.PAYING;
  return reservationStatus !== ReservationStatus.PENDING_DB && reservationStatus !== ReservationStatus.ORDERED;
}

function placesOf({ sku, requestId, userId, deviceId }: ValidReservation): Place[] {
  const ofUser = { holder: holderOf('user', userId), sku, requestId };
  return deviceId === null ? [ofUser] : [ofUser, { holder: holderOf('device', deviceId), sku, requestId }];
}

class Holds implements UnpaidHolds {
  readonly name = 'unpaid-holds';
  readonly #options: UnpaidHoldsOptions;
  readonly #take;
  readonly #drop;
  /** Requests in hand whose place was taken for them and is not needed yet. */
  readonly #undecided = new WeakSet<ValidReservation>();
  readonly #looking = new Set<string>();

  constructor(options: UnpaidHoldsOptions) {
    this.#options = options;
    const { book, activityId, tuning, holdLastsMs } = options;
    this.#take = createCallBatcher((asked: readonly HoldAsked[]) => book.takeHolds(activityId, asked, { ...tuning, lastsMs: holdLastsMs }));
    this.#drop = createCallBatcher(async (places: readonly Place[]) => {
      const reply = await book.dropHolds(activityId, places);
      return reply.outcome === 'done' ? { outcome: 'done', value: places.map(() => true) } : reply;
    });
  }

  async pass(request: ValidReservation): Promise<LayerVerdict> {
    const { sku, requestId, userId, deviceId } = request;
    const reply = await this.#take({ sku, requestId, userId, deviceId });
    if (reply.outcome !== 'done') {
      // It may have been taken after all.
      if (reply.outcome === 'unknown') this.#giveBack(placesOf(request));
      return unavailable(requestId);
    }
    if (reply.value.kind === 'taken') this.#undecided.add(request);
    if (reply.value.kind !== 'full') return null;
    const { whose, holds } = reply.value;
    void this.#lookUp(whose === 'USER' ? holderOf('user', userId) : holderOf('device', deviceId ?? ''), holds);
    return holdLimit(requestId, whose);
  }

  accepted(request: ValidReservation): void {
    this.#undecided.delete(request);
  }

  leave(request: ValidReservation): void {
    if (this.#undecided.delete(request)) this.#giveBack(placesOf(request));
  }

  /** Best effort: a place that stays taken by mistake is freed by a look-up when its holder comes back, or by its time. */
  #giveBack(places: readonly Place[]): void {
    for (const place of places) void this.#drop(place);
  }

  async #lookUp(holder: string, holds: readonly Hold[]): Promise<void> {
    if (this.#looking.has(holder)) return;
    this.#looking.add(holder);
    for (const { sku, requestId, ageMs } of holds) {
      if (!this.#options.limit.take()) break;
      const found = await this.#options.reader.lookup(sku, requestId);
      if (found.outcome !== 'done') continue;
      const over = found.state === null ? ageMs > this.#options.reservationLastsMs : hasEnded(found.state);
      if (over) await this.#drop({ holder, sku, requestId });
    }
    this.#looking.delete(holder);
  }
}

export function createUnpaidHolds(options: UnpaidHoldsOptions): UnpaidHolds {
  return new Holds(options);
}
