/** What the mirror in Redis should say of a reservation, by PostgreSQL. Used by repairs and by the rebuild alike. */
import type { OrderMessage } from '../../domain/order-message.js';
import { RedisRecordState, ReservationStatus } from '../../domain/status-codes.js';
import { UNKNOWN_PAYLOAD_HASH } from '../stock/record-codec.js';
import type { StockRecord } from '../stock/stock-port.js';
import type { DurableReservation, DurableSku } from './reconciliation-ledgers.js';

/** PENDING_DB exists only inside a transaction; a row left there, or one that waits for a human, has no result that may be told. */
const STATE_OF: Readonly<Record<number, RedisRecordState>> = {
  [ReservationStatus.PENDING_DB]: RedisRecordState.SENT,
  [ReservationStatus.ORDERED]: RedisRecordState.ORDERED,
  [ReservationStatus.REJECTED]: RedisRecordState.REJECTED,
  [ReservationStatus.RELEASE_PENDING]: RedisRecordState.ORDERED,
  [ReservationStatus.RELEASED]: RedisRecordState.RELEASED,
  [ReservationStatus.EXPIRED]: RedisRecordState.RELEASED,
  [ReservationStatus.MANUAL_REQUIRED]: RedisRecordState.SENT,
};

/** PostgreSQL has taken the unit out of what is available, and has not put it back. */
export function holdsDurableUnit(row: DurableReservation): boolean {
  return row.status === ReservationStatus.ORDERED || row.status === ReservationStatus.RELEASE_PENDING || (row.status === ReservationStatus.MANUAL_REQUIRED && row.orderId !== null);
}

/** Its end is durable. */
export function hasEnded(row: DurableReservation): boolean {
  return row.status === ReservationStatus.REJECTED || row.status === ReservationStatus.RELEASED || row.status === ReservationStatus.EXPIRED;
}

/** The unit is free again in Redis. A withdrawn one is not: it ended without going back on sale. */
export function unitIsFree(row: DurableReservation): boolean {
  return row.status === ReservationStatus.REJECTED || row.status === ReservationStatus.EXPIRED || (row.status === ReservationStatus.RELEASED && row.hasRelease);
}

/** The user may not reserve again. */
export function keepsMark(row: DurableReservation, sku: Pick<DurableSku, 'rebuyAfterCancel'>): boolean {
  if (row.status === ReservationStatus.RELEASED) return !sku.rebuyAfterCancel;
  return !hasEnded(row);
}

/** The record of a row; what is only known to the record that is there already is taken from it. */
export function recordOfRow(row: DurableReservation, sku: Pick<DurableSku, 'activityVersion'>, known: StockRecord | null = null): StockRecord {
  return {
    requestId: row.requestId,
    userId: row.userId,
    reservationId: row.reservationId,
    messageId: row.messageId,
    payloadHash: known?.payloadHash ?? row.payloadHash ?? UNKNOWN_PAYLOAD_HASH,
    state: STATE_OF[row.status] ?? RedisRecordState.SENT,
    activityVersion: known?.activityVersion ?? sku.activityVersion,
    purchaseNo: row.purchaseNo,
    reservedAtMs: row.reservedAtMs,
    expiresAtMs: row.expiresAtMs,
    orderId: row.orderId,
    reason: row.reason,
    appliedVersion: row.version,
    unitReturned: unitIsFree(row),
  };
}

/** The record of a message that nobody has worked off yet. */
export function recordOfMessage(message: OrderMessage): StockRecord {
  const { requestId, userId, reservationId, messageId, payloadHash, activityVersion, purchaseNo, reservedAtMs, expiresAtMs } = message;
  return {
    requestId, userId, reservationId, messageId, payloadHash, activityVersion, purchaseNo, reservedAtMs, expiresAtMs,
    state: RedisRecordState.SENT, orderId: null, reason: null, appliedVersion: 0, unitReturned: false,
  };
}
