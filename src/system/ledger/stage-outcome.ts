/** Last stages: followers get their decision, reservation rows leave PENDING_DB, and every change of state gets its event. */
import type { OrderId } from '../../domain/ids.js';
import type { OrderEvent } from '../../domain/order-event.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { EventType, OrderResult } from '../../domain/reason-codes.js';
import { freshId } from '../fresh-id.js';
import { outboxHeaders } from '../tracing/tracing.js';
import type { MessageResult } from './ledger-port.js';
import { column, type Decision, type OrderWork } from './order-work.js';
import { LedgerAnomaly } from './postgres-failure.js';
import type { Transaction } from './transaction.js';

/** What a message of the same reservation, or of the same user, would have met had it come after its leader's COMMIT. */
function decisionOfFollower(leader: Decision, as: 'same-reservation' | 'same-user'): Decision {
  const hasOrder = leader.result === OrderResult.ORDER_CREATED || leader.result === OrderResult.ALREADY_ORDERED;
  if (as === 'same-user') return { result: hasOrder ? OrderResult.REJECTED_DUPLICATE_USER : leader.result, orderId: null };
  if (hasOrder) return { result: OrderResult.ALREADY_ORDERED, orderId: leader.orderId };
  // A refused duplicate of a request has no row, so the next message of that reservation meets the same refusal again.
  if (leader.result === OrderResult.REJECTED_DUPLICATE_REQUEST && leader.orderId === null) return leader;
  return { result: OrderResult.ALREADY_CLOSED, orderId: null };
}

/** After this every work has a decision. */
export function decideFollowers(works: readonly OrderWork[]): void {
  // A same-user follower may itself lead messages of its own reservation, so users come first.
  for (const as of ['same-user', 'same-reservation'] as const) {
    for (const work of works) {
      if (work.follows?.as !== as) continue;
      const { leader } = work.follows;
      if (leader.decision === null) throw new LedgerAnomaly(`reservation ${leader.message.reservationId} was left undecided`);
      const rowOfLeader = as === 'same-reservation' && leader.pendingRow;
      work.decision = rowOfLeader && leader.decision.result === OrderResult.REJECTED_DUPLICATE_REQUEST
        ? { result: OrderResult.ALREADY_CLOSED, orderId: null }
        : decisionOfFollower(leader.decision, as);
    }
  }
  const undecided = works.find((work) => work.decision === null);
  if (undecided !== undefined) throw new LedgerAnomaly(`reservation ${undecided.message.reservationId} was left undecided`);
}

/** PENDING_DB → ORDERED or REJECTED for every row this transaction holds. */
export async function settleReservations(transaction: Transaction, works: readonly OrderWork[]): Promise<void> {
  const pending = works.filter((work) => work.pendingRow);
  const ordered = pending.filter((work) => work.decision?.orderId != null);
  const refused = pending.filter((work) => work.decision?.orderId == null);
  const moved = [
    ...(ordered.length === 0 ? [] : (await transaction.run<{ reservation_id: string; version: string }>('mark_reservations_ordered', [
      column(ordered, (work) => work.message.reservationId), column(ordered, (work) => work.decision?.orderId), column(ordered, purchaseNoOf),
    ])).rows),
    ...(refused.length === 0 ? [] : (await transaction.run<{ reservation_id: string; version: string }>('mark_reservations_rejected', [
      column(refused, (work) => work.message.reservationId), column(refused, (work) => work.decision?.result),
    ])).rows),
  ];
  const versionOf = new Map(moved.map((row) => [row.reservation_id, Number(row.version)]));
  for (const work of pending) {
    const version = versionOf.get(work.message.reservationId);
    if (version === undefined) throw new LedgerAnomaly(`reservation ${work.message.reservationId} left PENDING_DB under our lock`);
    work.version = version;
  }
}

/** An order of an earlier transaction keeps the number it has; the row of such a reservation is not pending. */
function purchaseNoOf(work: OrderWork): number {
  return work.made?.purchaseNo ?? work.message.purchaseNo;
}

export interface EventTopics {
  readonly events: string;
  /** Timers that end unpaid orders. */
  readonly closes: string;
}

/**
 * An ORDER_CREATED or a RESERVATION_REJECTED for every reservation whose end was decided here, and for every new order the timer that ends it:
 * it is not sent before the order's own `expire_at`.
 */
export async function writeEvents(transaction: Transaction, works: readonly OrderWork[], topics: EventTopics): Promise<void> {
  const decided = works.filter(endsHere);
  await insertOrderEvents(transaction, decided.flatMap(newOrderOf), topics);
  await insertEvents(transaction, topics.events, decided.filter((work) => newOrderOf(work).length === 0).map(eventOf));
}

interface NewOrder {
  readonly message: OrderMessage;
  readonly version: number;
  readonly orderId: OrderId;
  readonly expireAt: string;
}

/** None where the reservation has no order, or one of an earlier transaction. */
function newOrderOf({ message, version, made, decision }: OrderWork): readonly NewOrder[] {
  return made === null || decision?.orderId == null ? [] : [{ message, version, orderId: decision.orderId, expireAt: made.expireAt }];
}

async function insertOrderEvents(transaction: Transaction, orders: readonly NewOrder[], topics: EventTopics): Promise<void> {
  if (orders.length === 0) return;
  await transaction.run('insert_order_events', [
    column(orders, ({ message }) => message.reservationId),
    column(orders, ({ version }) => version),
    column(orders, ({ message }) => message.requestId),
    column(orders, ({ message }) => message.activityId),
    column(orders, ({ message }) => message.skuId),
    column(orders, ({ message }) => message.userId),
    column(orders, ({ orderId }) => orderId),
    column(orders, freshId),
    column(orders, freshId),
    column(orders, ({ expireAt }) => expireAt),
    column(orders, ({ message }) => headersOf(message.reservationId)),
    topics.events,
    topics.closes,
  ]);
}

function endsHere(work: OrderWork): boolean {
  if (work.follows?.as === 'same-reservation') return false;
  return work.pendingRow || work.decision?.result === OrderResult.REJECTED_DUPLICATE_REQUEST;
}

function eventOf(work: OrderWork): OrderEvent {
  const { message } = work;
  const orderId = work.decision?.orderId ?? null;
  return {
    schemaVersion: 1,
    eventId: freshId(),
    type: orderId === null ? EventType.RESERVATION_REJECTED : EventType.ORDER_CREATED,
    aggregateId: message.reservationId,
    aggregateVersion: work.version,
    reservationId: message.reservationId,
    requestId: message.requestId,
    activityId: message.activityId,
    skuId: message.skuId,
    userId: message.userId,
    orderId,
    reason: orderId === null ? (work.decision?.result ?? null) : null,
    returnsUnit: orderId === null,
    clearsUserMark: orderId === null,
  };
}

/**
 * Writes events to the Outbox; one whose key is there already is left alone. A reservation ends without an order once, by a refusal or by a
 * release, so both share one key.
 */
export async function insertEvents(transaction: Transaction, topic: string, events: readonly OrderEvent[]): Promise<void> {
  if (events.length === 0) return;
  await transaction.run('insert_outbox', [
    column(events, () => topic),
    column(events, (event) => event.eventId),
    column(events, (event) => (event.orderId === null ? `RESERVATION_ENDED:${event.reservationId}` : `${event.type}:${event.reservationId}`)),
    column(events, (event) => event.aggregateId),
    column(events, (event) => event.aggregateVersion),
    column(events, (event) => event.type),
    column(events, (event) => JSON.stringify(event)),
    column(events, () => null),
    column(events, (event) => headersOf(event.reservationId)),
  ]);
}

/** Most have none. */
const NO_HEADERS = '{}';

function headersOf(reservationId: string): string {
  const headers = outboxHeaders(reservationId);
  for (const _name in headers) return JSON.stringify(headers);
  return NO_HEADERS;
}

export function resultOf(work: OrderWork): MessageResult {
  if (work.decision === null) throw new LedgerAnomaly(`reservation ${work.message.reservationId} was left undecided`);
  return {
    messageId: work.message.messageId,
    reservationId: work.message.reservationId,
    repeated: false,
    result: work.decision.result,
    orderId: work.decision.orderId,
  };
}
