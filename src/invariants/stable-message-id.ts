/**
 * stable-message-id: a reservation has one message id for life, in Redis, in every copy in the topic, in the Inbox and in the tables; and a message id has
 * one reservation. A resend under a new id would make the Inbox blind.
 */
import type { Facts } from '../facts/facts.js';
import { inboxRows } from './inbox-rows.js';
import { kafkaOf, ordersTopicIsWhole, postgresOf, redisOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { tallyFor } from './tally.js';

export const stableMessageId: Invariant = {
  name: 'stable-message-id',
  title: 'One message id for life',
  whatItMeans: 'However often a reservation is sent, it goes under the message id it was born with, so that the Inbox can recognise it.',
  needs: ['history', 'redis', 'kafka', 'postgres'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(stableMessageId, facts);
    const { messagesOf, reservationsOf } = pairs(facts);
    for (const [reservationId, messages] of messagesOf) {
      tally.check();
      if (messages.size < 2) continue;
      tally.violation({
        kind: 'reservation', id: reservationId, severity: messages.size, subject: { reservationId },
        claim: `Reservation ${reservationId} goes under ${String(messages.size)} message ids: ${inShort([...messages].map(([id, where]) => `${id} (${where})`), 3)}.`,
      });
    }
    for (const [messageId, reservations] of reservationsOf) {
      tally.check();
      if (reservations.size < 2) continue;
      tally.violation({
        kind: 'message', id: messageId, severity: reservations.size, subject: { messageId },
        claim: `Message ${messageId} speaks for ${String(reservations.size)} reservations: ${inShort(reservations, 3)}.`,
      });
    }
    if (facts.kafka.present && !ordersTopicIsWhole(facts)) tally.gap('the orders topic has lost its beginning: copies under another id may have been in it');
    return tally.verdict();
  },
};

interface Pairs {
  /** Reservation → message id → where it was seen first. */
  readonly messagesOf: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly reservationsOf: ReadonlyMap<string, ReadonlySet<string>>;
}

function pairs(facts: Facts): Pairs {
  const messagesOf = new Map<string, Map<string, string>>();
  const reservationsOf = new Map<string, Set<string>>();
  const pair = (reservationId: string, messageId: string, where: string): void => {
    const messages = messagesOf.get(reservationId) ?? new Map<string, string>();
    messagesOf.set(reservationId, messages);
    if (!messages.has(messageId)) messages.set(messageId, where);
    const reservations = reservationsOf.get(messageId) ?? new Set<string>();
    reservationsOf.set(messageId, reservations);
    reservations.add(reservationId);
  };
  for (const record of redisOf(facts).records) pair(record.reservationId, record.messageId, 'Redis');
  for (const record of kafkaOf(facts).orders) pair(record.reservationId, record.messageId, `topic ${String(record.partition)}:${record.offset}`);
  const { reservations, orders } = postgresOf(facts);
  for (const row of inboxRows(facts)) if (row.consumerGroup === facts.run.namespace.ordersGroup) pair(row.reservationId, row.messageId, 'Inbox');
  for (const row of reservations) pair(row.reservationId, row.firstMessageId, 'reservation row');
  for (const row of orders) pair(row.reservationId, row.sourceMessageId, 'order row');
  return { messagesOf, reservationsOf };
}
