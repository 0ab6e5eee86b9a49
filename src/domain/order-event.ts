/**
 * An event of the Outbox, as JSON in the value of a record on the events topic. Key: the aggregate id, so that the events of one
 * reservation stay in one partition; the projector also applies only newer aggregate versions.
 */
import { isPositiveInt8, isRequestId, type ActivityId, type OrderId, type RequestId, type ReservationId, type SkuId, type UserId } from './ids.js';
import { EventType } from './reason-codes.js';

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
  /** True when the user may reserve again: after a refusal, and after a release where the activity lets users buy again. */
  readonly clearsUserMark: boolean;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CODE = /^[A-Z0-9_]{1,64}$/;

export function encodeOrderEvent(event: OrderEvent): string {
  return JSON.stringify(event);
}

/** The event, or every problem found. Never throws: a poison event is data. */
export function parseOrderEvent(text: string): { ok: true; event: OrderEvent } | { ok: false; problems: string[] } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['not JSON'] };
  }
  if (typeof parsed !== 'object' || parsed === null) return { ok: false, problems: ['not an object'] };
  const value = parsed as Record<string, unknown>;
  const problems: string[] = [];
  const need = (field: keyof OrderEvent, holds: boolean): void => {
    if (!holds) problems.push(`${field} is missing or malformed`);
  };
  const isText = (field: unknown): field is string => typeof field === 'string';
  const isInt8 = (field: unknown): boolean => isText(field) && isPositiveInt8(field);
  need('schemaVersion', value['schemaVersion'] === 1);
  need('eventId', isText(value['eventId']) && value['eventId'].length > 0);
  need('type', isText(value['type']) && Object.hasOwn(EventType, value['type']));
  need('aggregateVersion', Number.isSafeInteger(value['aggregateVersion']) && (value['aggregateVersion'] as number) >= 0);
  need('reservationId', isText(value['reservationId']) && UUID.test(value['reservationId']));
  need('aggregateId', isText(value['aggregateId']) && value['aggregateId'] === value['reservationId']);
  need('requestId', isText(value['requestId']) && isRequestId(value['requestId']));
  for (const field of ['activityId', 'skuId', 'userId'] as const) need(field, isInt8(value[field]));
  need('orderId', value['orderId'] === null || isInt8(value['orderId']));
  need('reason', value['reason'] === null || (isText(value['reason']) && CODE.test(value['reason'])));
  for (const field of ['returnsUnit', 'clearsUserMark'] as const) need(field, typeof value[field] === 'boolean');
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, event: parsed as OrderEvent };
}
