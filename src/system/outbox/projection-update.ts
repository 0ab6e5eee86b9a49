/** What each event of the Outbox means for the mirror in Redis. */
import type { OrderEvent } from '../../domain/order-event.js';
import { EventType } from '../../domain/reason-codes.js';
import { RedisRecordState } from '../../domain/status-codes.js';
import type { ProjectionUpdate } from '../stock/stock-port.js';

/** null: the event is a timer for another role and changes nothing that a buyer could see. */
const STATE_OF: Readonly<Record<EventType, RedisRecordState | null>> = {
  [EventType.ORDER_CREATED]: RedisRecordState.ORDERED,
  [EventType.ORDER_PAID]: RedisRecordState.ORDERED,
  [EventType.RESERVATION_REJECTED]: RedisRecordState.REJECTED,
  [EventType.RESERVATION_RELEASED]: RedisRecordState.RELEASED,
  [EventType.ORDER_CANCELLED]: RedisRecordState.RELEASED,
  [EventType.ORDER_CLOSE_DUE]: null,
};

/** The update of an event, or null when it is none of Redis' business. */
export function projectionUpdateOf(event: OrderEvent): ProjectionUpdate | null {
  const state = STATE_OF[event.type];
  if (state === null) return null;
  return {
    requestId: event.requestId,
    reservationId: event.reservationId,
    userId: event.userId,
    state,
    orderId: event.orderId,
    reason: event.reason,
    version: event.aggregateVersion,
    returnsUnit: event.returnsUnit,
    clearsUserMark: event.clearsUserMark,
  };
}
