/**
 * outbox-complete: every change of state that others have to hear of has its event in the Outbox or its archive, and no event comes from elsewhere; every row marked SENT is really in its topic; and when drained nothing that was due is unsent or DEAD. A timer that
 * ends an unpaid order is an event whose time has not come: it is at rest until then.
 */
import { EventType } from '../domain/reason-codes.js';
import { OutboxStatus } from '../domain/status-codes.js';
import { wallToMonoUs } from '../facts/timeline.js';
import type { Facts } from '../facts/facts.js';
import type { EventLogRecord, OutboxRow } from '../facts/store-facts.js';
import { inboxRows } from './inbox-rows.js';
import { kafkaOf, ordersByReservation, postgresOf, reservationRows } from './indexes.js';
import type { Invariant } from './invariant.js';
import { requestBelongsToAnother } from './reservation-end.js';
import { ORDER_STATES, orderWasPaid, RESERVATION_STATES, stateName } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

export const outboxComplete: Invariant = {
  name: 'outbox-complete',
  title: 'Every change is announced',
  whatItMeans: 'Each order, refusal and release has its event, every event marked sent is in the topic, and none is dead or forgotten.',
  needs: ['history', 'kafka', 'postgres', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(outboxComplete, facts);
    if (!facts.postgres.present) return tally.verdict();
    changesWithoutEvent(facts, tally);
    eventsWithoutChange(facts, tally);
    for (const row of postgresOf(facts).outbox) delivery(facts, row, tally);
    deliveredAsWritten(facts, tally);
    return tally.verdict();
  },
};

/** Any one of these events announces the state. A closed reservation is announced as refused or as released, by whoever closed it. */
const EVENTS_OF_RESERVATION: Readonly<Record<number, readonly string[]>> = {
  10: [EventType.ORDER_CREATED],
  20: [EventType.RESERVATION_REJECTED, EventType.RESERVATION_RELEASED],
  40: [EventType.RESERVATION_RELEASED],
  50: [EventType.RESERVATION_RELEASED, EventType.RESERVATION_REJECTED],
};
const EVENTS_OF_ORDER: Readonly<Record<number, readonly string[]>> = {
  30: [EventType.ORDER_PAID],
  40: [EventType.ORDER_CANCELLED],
  50: [EventType.ORDER_PAID],
  60: [EventType.ORDER_PAID],
};

/** States of a reservation row that an end announces. */
const ENDED: ReadonlySet<number> = new Set([20, 40, 50]);

/** Of both topics: what happened, and timers that end unpaid orders. */
function deliveredEvents(facts: Facts): readonly EventLogRecord[] {
  const { events, closes } = kafkaOf(facts);
  return [...events, ...closes];
}

function announcedEvents(facts: Facts): ReadonlyMap<string, ReadonlySet<string>> {
  const announced = new Map<string, Set<string>>();
  const add = (reservationId: string, type: string): void => {
    const types = announced.get(reservationId);
    if (types === undefined) announced.set(reservationId, new Set([type]));
    else types.add(type);
  };
  for (const row of postgresOf(facts).outbox) add(row.aggregateId, row.type);
  for (const event of deliveredEvents(facts)) add(event.reservationId, event.type);
  return announced;
}

function changesWithoutEvent(facts: Facts, tally: Tally): void {
  const { orders, reservations } = postgresOf(facts);
  const announced = announcedEvents(facts);
  const expect = (reservationId: string, oneOf: readonly string[], what: string): void => {
    tally.check();
    const types = announced.get(reservationId);
    if (oneOf.some((type) => types?.has(type) ?? false)) return;
    tally.violation({ kind: 'reservation', id: reservationId, subject: { reservationId }, claim: `${what} and was never announced as ${oneOf.join(' or ')}.` });
  };
  for (const order of orders) {
    expect(order.reservationId, [EventType.ORDER_CREATED], `Order ${order.orderId} was created`);
    expect(order.reservationId, [EventType.ORDER_CLOSE_DUE], `Order ${order.orderId} has a time to be paid in`);
    const further = EVENTS_OF_ORDER[order.status];
    if (further !== undefined) expect(order.reservationId, further, `Order ${order.orderId} became ${stateName(ORDER_STATES, order.status)}`);
  }
  for (const row of reservations) {
    const oneOf = EVENTS_OF_RESERVATION[row.status];
    // An order of this reservation has been looked at already.
    if (oneOf !== undefined && row.status !== 10) expect(row.reservationId, oneOf, `Reservation ${row.reservationId} became ${stateName(RESERVATION_STATES, row.status)}`);
  }
  for (const row of inboxRows(facts)) {
    // A refused second reservation of one request has no row; its unit comes back by this event all the same.
    if (row.resultCode === 'REJECTED_DUPLICATE_REQUEST') expect(row.reservationId, EVENTS_OF_RESERVATION[20] ?? [], `Reservation ${row.reservationId} was refused`);
  }
}

/** An event that nothing in the tables stands behind: what it announces did not happen, or is gone. */
function eventsWithoutChange(facts: Facts, tally: Tally): void {
  const outbox = postgresOf(facts).outbox.map((row) => ({ reservationId: row.aggregateId, type: row.type }));
  const topic = deliveredEvents(facts).map((event) => ({ reservationId: event.reservationId, type: event.type }));
  const judged = new Set<string>();
  for (const { reservationId, type } of [...outbox, ...topic]) {
    const key = `${type} ${reservationId}`;
    if (judged.has(key)) continue;
    judged.add(key);
    tally.check();
    if (!standsBehind(facts, reservationId, type)) tally.violation({ kind: 'reservation', id: reservationId, subject: { reservationId }, claim: `${type} was announced for reservation ${reservationId}, and the tables do not say so.` });
  }
}

function standsBehind(facts: Facts, reservationId: string, type: string): boolean {
  const order = ordersByReservation(facts).get(reservationId)?.[0];
  const status = reservationRows(facts).get(reservationId)?.[0]?.status;
  switch (type) {
    case EventType.RESERVATION_REJECTED:
    case EventType.RESERVATION_RELEASED:
      return ENDED.has(status ?? -1) || (status === undefined && requestBelongsToAnother(facts, reservationId));
    case EventType.ORDER_PAID:
      return order !== undefined && orderWasPaid(order.status);
    case EventType.ORDER_CANCELLED:
      return order?.status === 40;
    default:
      return order !== undefined;
  }
}

function delivery(facts: Facts, row: OutboxRow, tally: Tally): void {
  tally.check();
  const violated = (claim: string): void => {
    tally.violation({ kind: 'event', id: row.eventId, subject: { reservationId: row.aggregateId }, claim: `Event ${row.eventId} (${row.type}) ${claim}.` });
  };
  // The key under which an event is written only once names what it is about.
  if (!row.dedupKey.includes(row.aggregateId)) violated(`is about reservation ${row.aggregateId} and was written under the key ${row.dedupKey}`);
  if (row.status === OutboxStatus.DEAD) {
    violated(`is DEAD after ${String(row.retryCount)} retries`);
    return;
  }
  if (row.status === OutboxStatus.SENT || !facts.settle.present) return;
  const { drainedUs, boundMs } = facts.settle.value;
  const dueUs = wallToMonoUs(facts.run.clock, row.availableAtUs);
  if (drainedUs === null) {
    // Due long after the bound is nobody's fault, and due before it may only be slow.
    if (dueUs <= facts.run.clock.atEnd.monoUs) tally.gap(`not drained inside ${String(boundMs)} ms: some events are still unsent`);
  } else if (dueUs <= drainedUs - facts.run.clock.boundUs) {
    violated(`was due and is unsent (status ${String(row.status)}) although the system was drained`);
  }
}

function deliveredAsWritten(facts: Facts, tally: Tally): void {
  if (!facts.kafka.present) return;
  const { eventsBounds, closesBounds } = kafkaOf(facts);
  const whole = [...eventsBounds, ...closesBounds].every((bounds) => BigInt(bounds.beginOffset) === 0n);
  const delivered = new Map(deliveredEvents(facts).map((event) => [event.eventId, event]));
  const timers = new Set(kafkaOf(facts).closes.map((event) => event.eventId));
  // Retention moves rows into the archive and takes none away: an event without a row was sent by nobody who may.
  const written = new Set(postgresOf(facts).outbox.map((row) => row.eventId));
  for (const event of delivered.values()) {
    tally.check();
    if (written.has(event.eventId)) continue;
    tally.violation({
      kind: 'event', id: event.eventId, subject: { reservationId: event.reservationId },
      claim: `Event ${event.eventId} (${event.type}) of reservation ${event.reservationId} is in the topic and was never written into the Outbox.`,
    });
  }
  for (const row of postgresOf(facts).outbox) {
    const event = delivered.get(row.eventId);
    const violated = (claim: string): void => {
      tally.violation({ kind: 'event', id: row.eventId, severity: 2, subject: { reservationId: row.aggregateId }, claim: `Event ${row.eventId} (${row.type}) ${claim}.` });
    };
    if (event !== undefined) {
      const same = event.reservationId === row.aggregateId && event.type === row.type && event.aggregateVersion === row.aggregateVersion;
      const order = ordersByReservation(facts).get(row.aggregateId)?.[0];
      if (event.orderId !== null && event.orderId !== order?.orderId) violated(`names order ${event.orderId}, its reservation has ${order?.orderId ?? 'none'}`);
      if (timers.has(event.eventId) !== (row.topic === facts.run.namespace.closesTopic)) violated(`was written for ${row.topic} and is in another topic`);
      // A reservation gives its unit back in Redis when it ends without an order, or with one whose unit goes on sale again.
      const ends = row.type === EventType.RESERVATION_REJECTED || row.type === EventType.RESERVATION_RELEASED;
      const returns = ends && (order === undefined || facts.run.rules.restockOnCancel);
      if (event.returnsUnit !== returns && ends) violated(event.returnsUnit ? 'tells Redis to give back a unit that leaves the sale' : 'does not tell Redis to give its unit back');
      if (!same) violated(`was delivered as ${event.type}, version ${String(event.aggregateVersion)}, of reservation ${event.reservationId}`);
    } else if (row.status === OutboxStatus.SENT && whole) violated('is marked SENT and is not in the topic');
    else if (row.status === OutboxStatus.SENT) tally.gap('a topic of events has lost its beginning, and some events marked sent are not in what is left');
  }
}
