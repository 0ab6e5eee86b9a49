/** How a reservation ended, by durable facts only: what Redis believes is no end (DESIGN §4, "durable facts first"). */
import type { Facts } from '../facts/facts.js';
import {
  ordersByReservation, outboxByReservation, postgresOf, redisByReservation, reservationRows, reservationRowsByRequest, reservationsInDeadLetters,
  topicByReservation,
} from './indexes.js';
import { inboxByReservation } from './inbox-rows.js';
import { rememberedPerFacts } from './remembered.js';
import { orderIsLive, reservationIsRefused, RESERVATION_STATES, stateName } from './state-tables.js';

export type ReservationEnd =
  | { readonly end: 'order' | 'refused' | 'released' }
  /** Handed over to a human, visibly and for good: MANUAL_REQUIRED, or a dead letter that nobody has worked off yet. */
  | { readonly end: 'manual' | 'dead-letter' }
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
    if (row.status === 60) return { end: 'manual' };
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
  if (requestBelongsToAnother(facts, reservationId) && outboxByReservation(facts).has(reservationId)) return { end: 'released' };
  return reservationsInDeadLetters(facts).has(reservationId) ? { end: 'dead-letter' } : { end: 'none' };
}

/** It needs nobody any more. */
export function hasEnded({ end }: ReservationEnd): boolean {
  return end === 'order' || end === 'refused' || end === 'released';
}

/** … or it stands where somebody is bound to see it. */
export function isAccountedFor(end: ReservationEnd): boolean {
  return hasEnded(end) || end.end === 'manual' || end.end === 'dead-letter';
}

/**
 * Its unit went back on sale by durable facts: it ended without an order, or with one that ended in an activity that restocks. A unit that waits for a human
 * is not back.
 */
export function unitIsBack(facts: Facts, reservationId: string): boolean {
  const { end } = endOfReservation(facts, reservationId);
  if (end !== 'order') return end === 'refused' || end === 'released';
  const order = ordersByReservation(facts).get(reservationId)?.[0];
  return order !== undefined && !orderIsLive(order.status) && facts.run.rules.restockOnCancel;
}

/** Reservations whose order ended and whose unit leaves the sale, because the activity does not restock (system: RELEASED without a RELEASE entry). */
export const withdrawnReservations: (facts: Facts) => ReadonlySet<string> = rememberedPerFacts((facts) =>
  new Set(facts.run.rules.restockOnCancel ? [] : postgresOf(facts).reservations.filter((row) => row.status === 40 && row.orderId !== null).map((row) => row.reservationId)));

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
