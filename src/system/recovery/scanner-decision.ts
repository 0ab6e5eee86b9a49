/**
 * What the scanner does with a reservation that is still in the pending index, decided by its state in PostgreSQL and never by whether a
 * send was confirmed (paper `000` §8.2: "sent" is an observation).
 */
import type { ReservationId } from '../../domain/ids.js';
import { RedisRecordState, ReservationStatus } from '../../domain/status-codes.js';
import type { DurableReservation } from '../ledger/ledger-port.js';
import type { ProjectionUpdate, StockRecord } from '../stock/stock-port.js';

export type ScannerDecision =
  /** PostgreSQL has never seen it and it may still become an order: send again, under the same message id. */
  | { readonly action: 'resend' }
  /** PostgreSQL has never seen it and it has expired: close it there first; its Outbox event gives the unit back. */
  | { readonly action: 'close' }
  /** PostgreSQL does not know its end and the recovery deadline is over: a human decides; it is not sent again. */
  | { readonly action: 'hand-over' }
  /** PostgreSQL has its end and the event has not arrived: write that end into Redis. */
  | { readonly action: 'project'; readonly update: ProjectionUpdate }
  /** Somebody else is at work on it; look again when the lease ends. */
  | { readonly action: 'wait'; readonly why: 'projection-on-its-way' | 'in-progress' | 'manual' };

export interface DecisionTimes {
  /** Clock of the Redis server at the claim. */
  readonly nowMs: number;
  /** How long a reservation must be past its expiry: covers the skew between the clocks of gateway, Redis and consumer. */
  readonly expiryMarginMs: number;
  /** How old a reservation may become before a human has to look. */
  readonly recoveryDeadlineMs: number;
  /** Asked only for an ended reservation: has its end been waiting for its event for longer than the scanner's patience? */
  readonly isProjectionOverdue: () => boolean;
}

/**
 * ORDERED moves no unit, so it is written back at once: it costs nothing and a buyer sees it sooner. An end that gives a unit back belongs
 * to its Outbox event; only when that event stays away (a truncated topic, a dead row) the scanner applies it, so that a lost event ends
 * too. Both ways are the same update with the same version, and a unit is given back once per reservation id.
 */
export function decide(record: StockRecord, durable: DurableReservation | undefined, times: DecisionTimes): ScannerDecision {
  // What has expired can be closed and needs nobody, so that comes first.
  if (durable === undefined && times.nowMs > record.expiresAtMs + times.expiryMarginMs) return { action: 'close' };
  const isOverdue = isPastDeadline(record, times);
  if (durable === undefined) return { action: isOverdue ? 'hand-over' : 'resend' };
  switch (durable.status) {
    case ReservationStatus.ORDERED:
      return { action: 'project', update: updateOf(record, durable, RedisRecordState.ORDERED) };
    case ReservationStatus.REJECTED:
      return ended(record, durable, RedisRecordState.REJECTED, times);
    case ReservationStatus.RELEASED:
    case ReservationStatus.EXPIRED:
      return ended(record, durable, RedisRecordState.RELEASED, times);
    case ReservationStatus.MANUAL_REQUIRED:
      return { action: 'wait', why: 'manual' };
    case ReservationStatus.PENDING_DB:
      return isOverdue ? { action: 'hand-over' } : { action: 'wait', why: 'in-progress' };
    default:
      return { action: 'wait', why: 'in-progress' };
  }
}

export function isPastDeadline(record: Pick<StockRecord, 'reservedAtMs'>, { nowMs, recoveryDeadlineMs }: Pick<DecisionTimes, 'nowMs' | 'recoveryDeadlineMs'>): boolean {
  return nowMs > record.reservedAtMs + recoveryDeadlineMs;
}

function ended(record: StockRecord, durable: DurableReservation, state: RedisRecordState, times: DecisionTimes): ScannerDecision {
  if (!times.isProjectionOverdue()) return { action: 'wait', why: 'projection-on-its-way' };
  return { action: 'project', update: updateOf(record, durable, state) };
}

function updateOf(record: StockRecord, durable: DurableReservation, state: RedisRecordState): ProjectionUpdate {
  const { requestId, reservationId, userId } = record;
  const { orderId, version, returnsUnit, clearsUserMark } = durable;
  return { requestId, reservationId, userId, state, orderId, reason: null, version, returnsUnit, clearsUserMark };
}

/** Remembers since when an ended reservation has been waiting for its event. Forgets what has left the index. */
export interface PatienceBook {
  /** Notes that it was seen waiting; true when that is longer ago than the patience. */
  isOverdue(reservationId: ReservationId, nowMs: number): boolean;
  forget(reservationId: ReservationId): void;
  readonly size: number;
}

/**
 * Kept in memory: a scanner that restarts only waits a little longer. Entries not seen for ten patiences have been finished by the
 * projector or by another scanner and are dropped.
 */
export function createPatienceBook(patienceMs: number): PatienceBook {
  const seen = new Map<ReservationId, { readonly firstMs: number; lastMs: number }>();
  let sweptAtMs = 0;
  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < patienceMs) return;
    sweptAtMs = nowMs;
    for (const [id, { lastMs }] of seen) if (nowMs - lastMs > patienceMs * 10) seen.delete(id);
  };
  return {
    get size() {
      return seen.size;
    },
    forget: (reservationId) => void seen.delete(reservationId),
    isOverdue(reservationId, nowMs) {
      sweep(nowMs);
      const entry = seen.get(reservationId);
      if (entry === undefined) {
        seen.set(reservationId, { firstMs: nowMs, lastMs: nowMs });
        return false;
      }
      entry.lastMs = nowMs;
      return nowMs - entry.firstMs >= patienceMs;
    },
  };
}
