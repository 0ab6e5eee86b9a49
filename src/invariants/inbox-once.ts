/**
 * inbox-once: each message below the committed offset has exactly one Inbox row of the consumer group, or was given up on as a dead letter, and what the row says is what is found: the order
 * it names exists, the refusal it names is on the reservation.
 *
 * Retention may delete a row once it is old enough: the commit log still tells what it said, and that it went no sooner.
 *
 * A committed offset without an Inbox row is a message that nobody will ever read again (CASES C20); an Inbox row without its effect is one that
 * every redelivery will skip (C24).
 */
import { OrderResult } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import type { InboxRow, OrderLogRecord } from '../facts/store-facts.js';
import {
  deadLetterPlaces, grouped, kafkaOf, ordersByRequest, ordersByReservation, ordersLag, ordersTopicIsWhole, placeOf, postgresOf, reservationRows, reservationRowsByRequest,
} from './indexes.js';
import { inboxRows } from './inbox-rows.js';
import type { Invariant } from './invariant.js';
import { reservationIsRefused } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

export const inboxOnce: Invariant = {
  name: 'inbox-once',
  title: 'Each message takes effect once',
  whatItMeans: 'Every message that the consumer has finished has one Inbox row, and the effect that the row names is there.',
  needs: ['history', 'kafka', 'postgres'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(inboxOnce, facts);
    if (!facts.kafka.present || !facts.postgres.present) return tally.verdict();
    const own = inboxRows(facts).filter((row) => row.consumerGroup === facts.run.namespace.ordersGroup);
    const rows = grouped(own, (row) => row.messageId);
    const messages = grouped(kafkaOf(facts).orders, (record) => record.messageId);
    finishedMessages(facts, rows, tally);
    for (const row of own) judgeRow(facts, row, messages, tally);
    itemsOfOrders(facts, tally);
    return tally.verdict();
  },
};

function finishedMessages(facts: Facts, rows: ReadonlyMap<string, readonly InboxRow[]>, tally: Tally): void {
  const { orders, ordersBounds } = kafkaOf(facts);
  const committed = new Map(ordersBounds.map((bounds) => [bounds.partition, bounds.committedOffset === null ? null : BigInt(bounds.committedOffset)]));
  for (const bounds of ordersBounds) {
    // The group never committed on a partition that holds messages: nothing below an offset is not the same as nothing finished.
    if (bounds.committedOffset === null && BigInt(bounds.endOffset) > 0n) tally.gap(`partition ${String(bounds.partition)} has messages and no committed offset`);
  }
  const lag = ordersLag(facts);
  if (lag > 0n && facts.settle.present && facts.settle.value.drainedUs !== null) tally.gap(`the system was drained, and ${String(lag)} messages lie above the committed offsets`);
  const judged = new Set<string>();
  for (const record of orders) {
    const upTo = committed.get(record.partition) ?? null;
    if (upTo === null || BigInt(record.offset) >= upTo || judged.has(record.messageId)) continue;
    judged.add(record.messageId);
    tally.check();
    const count = rows.get(record.messageId)?.length ?? 0;
    // What was given up on has its place among the dead letters and took no effect; sent again, it may have one.
    if (count === 1 || (count === 0 && deadLetterPlaces(facts).has(placeOf(facts.run.namespace.ordersTopic, record.partition, record.offset)))) continue;
    if (count === 0 && facts.run.inboxRetentionMs !== null && !facts.commitLog.present) {
      tally.gap('messages below the committed offset have no Inbox row, and without the commit log nobody can tell whether retention took it');
      continue;
    }
    tally.violation({
      kind: 'message', id: record.messageId, severity: count === 0 ? 2 : count, subject: { messageId: record.messageId, reservationId: record.reservationId },
      claim: `Message ${record.messageId} at ${String(record.partition)}:${record.offset} lies below the committed offset and has ${String(count)} Inbox rows.`,
    });
  }
}

function judgeRow(facts: Facts, row: InboxRow, messages: ReadonlyMap<string, readonly OrderLogRecord[]>, tally: Tally): void {
  tally.check();
  const violated = (claim: string): void => {
    tally.violation({ kind: 'message', id: row.messageId, subject: { messageId: row.messageId, reservationId: row.reservationId }, claim: `Inbox row of message ${row.messageId}: ${claim}.` });
  };
  const copies = messages.get(row.messageId);
  if (copies === undefined) {
    if (ordersTopicIsWhole(facts)) violated('the topic never held such a message');
  } else if (copies.some((copy) => copy.reservationId !== row.reservationId)) {
    violated(`it names reservation ${row.reservationId}, the message is for ${String(copies[0]?.reservationId)}`);
  }
  const problem = effectProblem(facts, row, copies?.[0] ?? null);
  if (problem !== null) violated(`it says ${row.resultCode}, but ${problem}`);
}

/** REJECTED, RELEASED, EXPIRED, and MANUAL_REQUIRED: nobody but a human ends what waits for one, so a late copy is refused. */
const CLOSED_TO_MESSAGES: ReadonlySet<number> = new Set([20, 40, 50, 60]);

/** Why the effect that the row names is not what is found; null when it is. */
function effectProblem(facts: Facts, row: InboxRow, message: OrderLogRecord | null): string | null {
  const order = ordersByReservation(facts).get(row.reservationId)?.[0];
  const reservation = reservationRows(facts).get(row.reservationId)?.[0];
  switch (row.resultCode) {
    case OrderResult.ORDER_CREATED:
      if (order === undefined) return 'the reservation has no order';
      if (order.orderId !== row.orderId) return `the order is ${order.orderId}, not ${String(row.orderId)}`;
      return order.sourceMessageId === row.messageId ? null : `the order was made from message ${order.sourceMessageId}`;
    case OrderResult.ALREADY_ORDERED:
      return order === undefined ? 'the reservation has no order' : null;
    case OrderResult.ALREADY_CLOSED:
      if (order !== undefined) return `the reservation has order ${order.orderId}`;
      return reservation !== undefined && CLOSED_TO_MESSAGES.has(reservation.status) ? null : 'the reservation is not closed';
    case OrderResult.REJECTED_DUPLICATE_REQUEST: {
      if (order !== undefined) return `the reservation has order ${order.orderId}`;
      const requestId = message?.requestId ?? reservation?.requestId ?? '';
      const others = [...(reservationRowsByRequest(facts).get(requestId) ?? []), ...(ordersByRequest(facts).get(requestId) ?? [])];
      return others.some((other) => other.reservationId !== row.reservationId) ? null : 'no other reservation has this request id';
    }
    default:
      if (!Object.hasOwn(OrderResult, row.resultCode)) return 'that is no result';
      if (order !== undefined) return `the reservation has order ${order.orderId}`;
      if (reservation === undefined || !reservationIsRefused(reservation.status)) return 'the reservation is not refused';
      return reservation.failureCode === row.resultCode ? null : `the reservation was refused for ${String(reservation.failureCode)}`;
  }
}

function itemsOfOrders(facts: Facts, tally: Tally): void {
  const { itemMismatches, orders } = postgresOf(facts);
  tally.check(orders.length);
  for (const { orderId, items } of itemMismatches) {
    tally.violation({ kind: 'order', id: orderId, subject: { orderId }, claim: `Order ${orderId} has ${String(items)} items, one is right.` });
  }
}
