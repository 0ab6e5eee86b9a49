/** Ends a reservation that has no order: closes it, hands it over to a human, or does what the human decided. All inside of a transaction of the caller's. */
import { v7 as uuidv7 } from 'uuid';

import type { ReservationId } from '../../domain/ids.js';
import type { OrderEvent } from '../../domain/order-event.js';
import { EventType, OrderResult } from '../../domain/reason-codes.js';
import { ReservationStatus } from '../../domain/status-codes.js';
import type { ClosedReservation } from './ledger-port.js';
import { insertEvents } from './stage-outcome.js';
import type { Transaction } from './transaction.js';

/**
 * Closes a reservation for `reason`: its row EXPIRED, and the Outbox row that gives its unit back. Does nothing when a row of its own is there
 * already, whatever that says.
 */
export async function closeReservation(transaction: Transaction, eventsTopic: string, reservation: ClosedReservation, reason: OrderResult): Promise<'closed' | 'already-there'> {
  const made = await transaction.run<{ version: string }>('insert_closed_reservation', [
    reservation.reservationId, reservation.requestId, reservation.messageId, reservation.sku.activityId, reservation.sku.skuId,
    reservation.userId, reservation.purchaseNo, reservation.reservedAtMs, reservation.expiresAtMs, reason,
  ]);
  if (made.count === 0) {
    const own = await transaction.run('find_reservation_states', [[reservation.reservationId]]);
    if (own.count > 0) return 'already-there';
    // Its request id belongs to another reservation, so it can have no row and no late message can win. Its unit still has to go back, and
    // the event's key lets that be written once.
  }
  await insertEvents(transaction, eventsTopic, [releaseEvent(reservation, reason)]);
  return 'closed';
}

/** What `failure_code` says of a reservation that was handed over. */
export const HANDED_OVER = { RECOVERY_DEADLINE: 'RECOVERY_DEADLINE', DEAD_LETTER: 'DEAD_LETTER' } as const;
export type HandedOver = (typeof HANDED_OVER)[keyof typeof HANDED_OVER];

/**
 * Hands a reservation over: its row is made where it is missing and becomes MANUAL_REQUIRED, so that a late message is refused and nobody sends it
 * again. No event: its unit stays held. `request-taken`: its request id belongs to another reservation, so it can have no row; close it.
 */
export async function handOverReservation(transaction: Transaction, reservation: ClosedReservation, why: HandedOver): Promise<'handed-over' | 'already-there' | 'request-taken'> {
  await transaction.run('insert_reservations', [
    [reservation.reservationId], [reservation.requestId], [reservation.messageId], [reservation.sku.activityId], [reservation.sku.skuId],
    [reservation.userId], [reservation.purchaseNo], [reservation.reservedAtMs], [reservation.expiresAtMs],
  ]);
  const moved = await transaction.run('hand_over_reservation', [reservation.reservationId, why]);
  if (moved.count > 0) return 'handed-over';
  const own = await transaction.run('find_reservation_states', [[reservation.reservationId]]);
  return own.count > 0 ? 'already-there' : 'request-taken';
}

/** `not-waiting`: it has an order, or is under way; nothing was changed. */
export type EndedByHand = 'released' | 'ended-before' | 'not-waiting' | 'not-known';

/**
 * Ends a reservation that waits for a human: its row EXPIRED, and the Outbox row that gives its unit back. Once, whatever is repeated: only a row in
 * MANUAL_REQUIRED moves, and the event's key lets it be written once.
 */
export async function endByHand(transaction: Transaction, eventsTopic: string, reservationId: ReservationId): Promise<EndedByHand> {
  const { rows } = await transaction.run<ManualRow>('end_manual_reservation', [reservationId, OrderResult.REJECTED_BY_HAND]);
  const [row] = rows;
  if (row === undefined) {
    const own = await transaction.run<{ status: number }>('find_reservation_states', [[reservationId]]);
    const status = own.rows[0]?.status;
    if (status === undefined) return 'not-known';
    return ENDED.has(status) ? 'ended-before' : 'not-waiting';
  }
  const { request_id: requestId, activity_id: activityId, sku_id: skuId, user_id: userId, version } = row;
  await insertEvents(transaction, eventsTopic, [releaseEvent({ reservationId, requestId, sku: { activityId, skuId }, userId }, OrderResult.REJECTED_BY_HAND, Number(version))]);
  return 'released';
}

interface ManualRow {
  readonly request_id: string;
  readonly activity_id: string;
  readonly sku_id: string;
  readonly user_id: string;
  readonly version: string;
}

const ENDED: ReadonlySet<number> = new Set([ReservationStatus.REJECTED, ReservationStatus.RELEASED, ReservationStatus.EXPIRED]);

/** `version`: of the row as this transaction leaves it. */
function releaseEvent(reservation: Pick<ClosedReservation, 'reservationId' | 'requestId' | 'sku' | 'userId'>, reason: OrderResult, version = 1): OrderEvent {
  return {
    schemaVersion: 1,
    eventId: uuidv7(),
    type: EventType.RESERVATION_RELEASED,
    aggregateId: reservation.reservationId,
    aggregateVersion: version,
    reservationId: reservation.reservationId,
    requestId: reservation.requestId,
    activityId: reservation.sku.activityId,
    skuId: reservation.sku.skuId,
    userId: reservation.userId,
    orderId: null,
    reason,
    returnsUnit: true,
    clearsUserMark: true,
  };
}
