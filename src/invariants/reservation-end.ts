/** How a reservation ended, by durable facts only: what Redis believes is no end (DESIGN §4, "durable facts first"). */
import type { Facts } from '../facts/facts.js';
import { inboxByReservation, ordersByReservation, reservationRows, reservationRowsByRequest } from './indexes.js';
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
  // A second reservation of one request id has no row of its own, since the request id is unique: its refusal lives in the Inbox.
  const refusal = inbox.find((entry) => entry.resultCode === 'REJECTED_DUPLICATE_REQUEST');
  return refusal === undefined ? { end: 'none' } : { end: 'refused' };
}

/** The same for an accepted request whose answer named no reservation. */
export function endOfRequest(facts: Facts, requestId: string): ReservationEnd {
  const row = reservationRowsByRequest(facts).get(requestId)?.[0];
  return row === undefined ? { end: 'none' } : endOfReservation(facts, row.reservationId);
}
