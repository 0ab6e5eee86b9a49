/**
 * Limits how many unpaid units one user and one device hold (paper `004` §9: scalpers block stock without ever buying). Counted from the acceptances of this
 * gateway, since a device is known to no store. Whoever is at his limit is refused at once, and his holds are then looked up in PostgreSQL in the background: paid and
 * ended ones no longer count at his next try.
 */
import type { FunnelTuning } from '../../../domain/funnel.js';
import type { SkuKey } from '../../../domain/ids.js';
import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableRequestState, RequestReader } from '../../ledger/ledger-port.js';
import type { RateLimit } from '../admission.js';
import { holdLimit } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer } from './layer.js';

export interface UnpaidHolds extends FunnelLayer {
  /** Told of every new acceptance. */
  accepted(request: ValidReservation): void;
}

export interface UnpaidHoldsOptions {
  readonly tuning: FunnelTuning['unpaidHolds'];
  readonly reader: Pick<RequestReader, 'lookup'>;
  /** Look-ups in PostgreSQL. */
  readonly limit: RateLimit;
  /** No hold lasts longer: reservation and payment window together. */
  readonly holdLastsMs: number;
  readonly nowMs?: () => number;
}

interface Hold {
  readonly sku: SkuKey;
  readonly requestId: string;
  readonly heldSinceMs: number;
}

/** Paid, or given back: the holder is free to take another. */
function hasEnded({ reservationStatus, orderStatus }: DurableRequestState): boolean {
  if (orderStatus !== null) return orderStatus !== OrderStatus.CREATED && orderStatus !== OrderStatus.PAYING;
  return reservationStatus !== ReservationStatus.PENDING_DB && reservationStatus !== ReservationStatus.ORDERED;
}

class Holds implements UnpaidHolds {
  readonly name = 'unpaid-holds';
  readonly #options: UnpaidHoldsOptions;
  readonly #nowMs: () => number;
  readonly #holds = new Map<string, Hold[]>();
  readonly #looking = new Set<string>();

  constructor(options: UnpaidHoldsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  pass(request: ValidReservation) {
    const { perUser, perDevice } = this.#options.tuning;
    if (this.#isFull(`u:${request.userId}`, perUser)) return holdLimit(request.requestId, 'USER');
    if (request.deviceId !== null && this.#isFull(`d:${request.deviceId}`, perDevice)) return holdLimit(request.requestId, 'DEVICE');
    return null;
  }

  accepted({ sku, requestId, userId, deviceId }: ValidReservation): void {
    const hold: Hold = { sku, requestId, heldSinceMs: this.#nowMs() };
    for (const holder of deviceId === null ? [`u:${userId}`] : [`u:${userId}`, `d:${deviceId}`]) {
      const holds = this.#holds.get(holder);
      if (holds === undefined) this.#holds.set(holder, [hold]);
      else if (!holds.some((other) => other.requestId === requestId)) holds.push(hold);
    }
  }

  #isFull(holder: string, most: number): boolean {
    const holds = this.#holds.get(holder);
    if (holds === undefined || holds.length < most) return false;
    const oldest = this.#nowMs() - this.#options.holdLastsMs;
    this.#keep(holder, holds.filter(({ heldSinceMs }) => heldSinceMs > oldest));
    const left = this.#holds.get(holder)?.length ?? 0;
    if (left < most) return false;
    void this.#lookUp(holder);
    return true;
  }

  #keep(holder: string, holds: Hold[]): void {
    if (holds.length === 0) this.#holds.delete(holder);
    else this.#holds.set(holder, holds);
  }

  async #lookUp(holder: string): Promise<void> {
    if (this.#looking.has(holder)) return;
    this.#looking.add(holder);
    for (const hold of this.#holds.get(holder) ?? []) {
      if (!this.#options.limit.take()) break;
      const found = await this.#options.reader.lookup(hold.sku, hold.requestId);
      if (found.outcome !== 'done' || found.state === null || !hasEnded(found.state)) continue;
      this.#keep(holder, (this.#holds.get(holder) ?? []).filter((other) => other !== hold));
    }
    this.#looking.delete(holder);
  }
}

export function createUnpaidHolds(options: UnpaidHoldsOptions): UnpaidHolds {
  return new Holds(options);
}
