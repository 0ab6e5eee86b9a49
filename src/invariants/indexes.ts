/** Lookups over the stores' facts, made once per facts. Missing evidence gives empty maps: whether that matters is the judge's business. */
import { expandArrivalPlan, type ArrivalPlan } from '../facts/arrival-plan.js';
import { NO_BOOKS, type ChannelBooks } from '../facts/channel-books.js';
import type { Facts } from '../facts/facts.js';
import type { Evidence, KafkaFacts, OrderLogRecord, OrderRow, OutboxRow, PaymentRow, PostgresFacts, RedisFacts, RedisRecord, ReservationRow } from '../facts/store-facts.js';
import { rememberedPerFacts } from './remembered.js';

const NO_KAFKA: KafkaFacts = {
  orders: [], events: [], closes: [], deadLetters: [], malformed: [], ordersBounds: [], eventsBounds: [], closesBounds: [], deadLettersBounds: [],
};
const NO_REDIS: RedisFacts = { stock: null, meta: {}, records: [], users: [], pending: [], permits: [], problems: [], runId: '' };
const NO_POSTGRES: PostgresFacts = {
  orders: [], reservations: [], inventory: [], tokens: [], ledger: [], inbox: [], outbox: [], compensations: [], payments: [],
  unmatchedPayments: [], deadLetters: [], itemMismatches: [],
};

function valueOr<T>(evidence: Evidence<T>, none: T): T {
  return evidence.present ? evidence.value : none;
}

export function kafkaOf(facts: Facts): KafkaFacts {
  return valueOr(facts.kafka, NO_KAFKA);
}

export function redisOf(facts: Facts): RedisFacts {
  return valueOr(facts.redis, NO_REDIS);
}

export function postgresOf(facts: Facts): PostgresFacts {
  return valueOr(facts.postgres, NO_POSTGRES);
}

export function channelOf(facts: Facts): ChannelBooks {
  return valueOr(facts.channel, NO_BOOKS);
}

/** Groups in the order found; a key that occurs twice keeps both. */
export function grouped<K, V>(items: readonly V[], keyOf: (item: V) => K): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** What was asked for, expanded again from the load of the manifest: no trust in the generator needed. */
export const planOf: (facts: Facts) => ArrivalPlan = rememberedPerFacts((facts) => expandArrivalPlan(facts.run.load));

export const ordersByReservation: (facts: Facts) => ReadonlyMap<string, readonly OrderRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).orders, (order) => order.reservationId));

export const ordersByRequest: (facts: Facts) => ReadonlyMap<string, readonly OrderRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).orders, (order) => order.requestId));

export const ordersById: (facts: Facts) => ReadonlyMap<string, readonly OrderRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).orders, (order) => order.orderId));

export const reservationRows: (facts: Facts) => ReadonlyMap<string, readonly ReservationRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).reservations, (row) => row.reservationId));

export const reservationRowsByRequest: (facts: Facts) => ReadonlyMap<string, readonly ReservationRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).reservations, (row) => row.requestId));

export const outboxByReservation: (facts: Facts) => ReadonlyMap<string, readonly OutboxRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).outbox, (row) => row.aggregateId));

/** A place in a topic, as dead letters name it. */
export function placeOf(topic: string, partition: number, offset: string): string {
  return `${topic}/${String(partition)}/${offset}`;
}

/** Places of all messages that were given up on, by the dead-letter topic and by the table alike. */
export const deadLetterPlaces: (facts: Facts) => ReadonlySet<string> = rememberedPerFacts((facts) =>
  new Set([...kafkaOf(facts).deadLetters, ...postgresOf(facts).deadLetters].map((letter) => placeOf(letter.originTopic, letter.originPartition, letter.originOffset))));

/** Reservations of which a message was given up on. */
export const reservationsInDeadLetters: (facts: Facts) => ReadonlySet<string> = rememberedPerFacts((facts) =>
  new Set([...kafkaOf(facts).deadLetters, ...postgresOf(facts).deadLetters].flatMap((letter) => letter.reservationId ?? [])));

export const paymentsByOrder: (facts: Facts) => ReadonlyMap<string, readonly PaymentRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).payments, (payment) => payment.orderId));

export const topicByReservation: (facts: Facts) => ReadonlyMap<string, readonly OrderLogRecord[]> = rememberedPerFacts((facts) =>
  grouped(kafkaOf(facts).orders, (record) => record.reservationId));

export const redisByReservation: (facts: Facts) => ReadonlyMap<string, readonly RedisRecord[]> = rememberedPerFacts((facts) =>
  grouped(redisOf(facts).records, (record) => record.reservationId));

export const redisByRequest: (facts: Facts) => ReadonlyMap<string, readonly RedisRecord[]> = rememberedPerFacts((facts) =>
  grouped(redisOf(facts).records, (record) => record.requestId));

/** The orders topic was read from its first record ever: what is not there was never there. */
export function ordersTopicIsWhole(facts: Facts): boolean {
  return kafkaOf(facts).ordersBounds.every((bounds) => BigInt(bounds.beginOffset) === 0n);
}

/** Messages that the consumer group has not finished: end − committed, summed over the partitions. */
export function ordersLag(facts: Facts): bigint {
  return kafkaOf(facts).ordersBounds.reduce((sum, bounds) => sum + BigInt(bounds.endOffset) - BigInt(bounds.committedOffset ?? bounds.beginOffset), 0n);
}
