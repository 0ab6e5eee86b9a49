/**
 * An event of the Outbox, as JSON in the value of a record on the events topic. Key: the aggregate id, so that the events of one
 * reservation stay in one partition; the projector also applies only newer aggregate versions.
 */
import type { ActivityId, OrderId, RequestId, ReservationId, SkuId, UserId } from './ids.js';
import type { EventType } from './reason-codes.js';

export interface OrderEvent {
  readonly schemaVersion: 1;
  readonly eventId: string;
  readonly type: EventType;
  /** The reservation: one aggregate holds a reservation and its order. */
  readonly aggregateId: ReservationId;
  /** Version of the reservation row after the change; rises by at least one with each event of the aggregate. */
  readonly aggregateVersion: number;
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly activityId: ActivityId;
  readonly skuId: SkuId;
  readonly userId: UserId;
  readonly orderId: OrderId | null;
  /** `OrderResult` of a refusal, `LedgerReason` of a release, else null. */
  readonly reason: string | null;
  /** True when the Redis unit has to be given back (a refusal or a release with restock). */
  readonly returnsUnit: boolean;
}
