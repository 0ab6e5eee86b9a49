/** How a reservation ended, by durable facts only: what Redis believes is no end (DESIGN §4, "durable facts first"). */
import type { Facts } from '../facts/facts.js';
import { inboxByReservation, ordersByReservation, outboxByReservation, redisByReservation, reservationRows, reservationRowsByRequest, topicByReservation } from './indexes.js';
import { reservationIsRefused, RESERVATION_STATES, stateName } from './state-tables.js';

export type ReservationEnd =
  | { readonly end: 'order' | 'refused' | 'released' }
  /** PostgreSQL says there was an order, and there is none. */
  | { readonly end: 'order-gone'; readonly why: string }
  | { readonly end: 'unfinished'; readonly why: string }
  | { readonly end: 'none' };

export function endOfReservation(facts: Facts, reservationId: string): ReservationEnd {
  if (ordersByReservation(facts).has(reservationId)) return { end: 'order' };
  const row = reservationRows(facts).get(reservationId)?.[0];
  const inbox = inboxByReservation(facts).get(reservationId) ?? [];
  if (row !== undefined && row.orderId !== null) {
    return { end: 'order-gone', why: `the reservation row says ${stateName(RESERVATION_STATES, row.status)} with order ${row.orderId}, and there is no such order` };
  }
  const created = inbox.find((entry) => entry.resultCode === 'ORDER_CREATED' || entry.resultCode === 'ALREADY_ORDERED');
  if (created !== undefined) {
    return { end: 'order-gone', why: `the Inbox says ${created.resultCode} for message ${created.messageId}, and there is no order` };
  }
  if (row !== undefined) {
    if (reservationIsRefused(row.status)) return { end: 'refused' };
    if (row.status === 40) return { end: 'released' };
    return { end: 'unfinished', why: `the reservation row is left in ${stateName(RESERVATION_STATES, row.status)}` };
  }
  return endWithoutRow(facts, reservationId);
}

/**
 * A second reservation of one request id (Redis forgot the first) can have no row, since the request id is unique. Its end is durable all the same:
 * the Inbox says refused, or the Outbox holds the event that gives its unit back.
 */
function endWithoutRow(facts: Facts, reservationId: string): ReservationEnd {
  const refused = (inboxByReservation(facts).get(reservationId) ?? []).some((entry) => entry.resultCode === 'REJECTED_DUPLICATE_REQUEST');
  if (refused) return { end: 'refused' };
  return requestBelongsToAnother(facts, reservationId) && outboxByReservation(facts).has(reservationId) ? { end: 'released' } : { end: 'none' };
}

/** Another reservation holds the durable row of this reservation's request. */
export function requestBelongsToAnother(facts: Facts, reservationId: string): boolean {
  const known = [...(topicByReservation(facts).get(reservationId) ?? []), ...(redisByReservation(facts).get(reservationId) ?? [])];
  return known.some(({ requestId }) => (reservationRowsByRequest(facts).get(requestId) ?? []).some((row) => row.reservationId !== reservationId));
}

/** The same for an accepted request whose answer named no reservation. */
export function endOfRequest(facts: Facts, requestId: string): ReservationEnd {
  const row = reservationRowsByRequest(facts).get(requestId)?.[0];
  return row === undefined ? { end: 'none' } : endOfReservation(facts, row.reservationId);
}
