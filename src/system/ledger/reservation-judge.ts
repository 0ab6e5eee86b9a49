/** What the scanner decides by, and how it ends a reservation that never became an order. */
import { v7 as uuidv7 } from 'uuid';

import type { OrderEvent } from '../../domain/order-event.js';
import { EventType, OrderResult } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import type { ClosedReservation, ReservationJudge } from './ledger-port.js';
import { answers, createPool } from './pool.js';
import { describeFailure } from './postgres-failure.js';
import { loadStatements } from './sql-loader.js';
import { insertEvents } from './stage-outcome.js';
import { inTransaction, type Transaction } from './transaction.js';

interface StateRow {
  readonly reservation_id: string;
  readonly status: number;
  readonly order_id: string | null;
  readonly version: string;
  readonly returns_unit: boolean;
  readonly clears_user_mark: boolean;
}

export function createReservationJudge(config: RoleConfig, surroundings: RoleSurroundings): ReservationJudge {
  const statements = loadStatements();
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: config.instance,
    max: Math.min(config.tuning.postgresPoolSize, 4),
  }, surroundings);
  return {
    async durableStates(reservationIds) {
      if (reservationIds.length === 0) return new Map();
      try {
        const { rows } = await pool.query<StateRow>({ ...statements.find_reservation_states, values: [[...reservationIds]] });
        return new Map(rows.map((row) => [row.reservation_id, {
          status: row.status, orderId: row.order_id, version: Number(row.version), returnsUnit: row.returns_unit, clearsUserMark: row.clears_user_mark,
        }]));
      } catch (error) {
        surroundings.log('warn', 'reservation states not read', { error: describeFailure(error) });
        return null;
      }
    },
    async closeWithoutOrder(reservation) {
      const end = await inTransaction(pool, statements, (transaction) => close(transaction, config.namespace.eventsTopic, reservation));
      if (end.end === 'committed') return end.value;
      // Unknown is unavailable too: the next look at the durable state tells what happened.
      surroundings.log('warn', 'reservation not closed', { reservationId: reservation.reservationId, error: describeFailure(end.error) });
      return 'unavailable';
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}

async function close(transaction: Transaction, eventsTopic: string, reservation: ClosedReservation): Promise<'closed' | 'already-there'> {
  const made = await transaction.run<{ version: string }>('insert_closed_reservation', [
    reservation.reservationId, reservation.requestId, reservation.messageId, reservation.sku.activityId, reservation.sku.skuId,
    reservation.userId, reservation.purchaseNo, reservation.reservedAtMs, reservation.expiresAtMs,
  ]);
  if (made.count === 0) {
    const own = await transaction.run('find_reservation_states', [[reservation.reservationId]]);
    if (own.count > 0) return 'already-there';
    // Its request id belongs to another reservation, so it can have no row and no late message can win. Its unit still has to go back, and
    // the event's key lets that be written once.
  }
  await insertEvents(transaction, eventsTopic, [releaseEvent(reservation)]);
  return 'closed';
}

function releaseEvent(reservation: ClosedReservation): OrderEvent {
  return {
    schemaVersion: 1,
    eventId: uuidv7(),
    type: EventType.RESERVATION_RELEASED,
    aggregateId: reservation.reservationId,
    aggregateVersion: 1,
    reservationId: reservation.reservationId,
    requestId: reservation.requestId,
    activityId: reservation.sku.activityId,
    skuId: reservation.sku.skuId,
    userId: reservation.userId,
    orderId: null,
    reason: OrderResult.REJECTED_EXPIRED,
    returnsUnit: true,
    clearsUserMark: true,
  };
}
