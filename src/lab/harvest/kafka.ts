/**
 * Harvest of Kafka: the topics of the run from the first to the last offset, over the direct listener, with the broker's LogAppendTime.
 */
import { Kafka, logLevel, type Admin, type KafkaMessage } from 'kafkajs';

import type { Namespace } from '../../domain/namespace.js';
import { parseOrderMessage } from '../../domain/order-message.js';
import type { HostPort } from '../../domain/role-config.js';
import type { DeadLetterRecord, EventLogRecord, KafkaFacts, OrderLogRecord, TopicBounds } from '../../facts/store-facts.js';
import { parseDeadLetterRecord, parseEventRecord } from './log-records.js';

interface RawRecord {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

const READ_STALL_MS = 20_000;

/** Empty for a topic that does not exist: the judges of a topic that has to be there treat that as a gap. */
async function boundsOf(admin: Admin, topic: string, group: string): Promise<TopicBounds[]> {
  if (!(await admin.listTopics()).includes(topic)) return [];
  const offsets = await admin.fetchTopicOffsets(topic);
  const committed = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const byPartition = new Map((committed[0]?.partitions ?? []).map((entry) => [entry.partition, entry.offset]));
  return offsets
    .map((entry) => {
      const offset = byPartition.get(entry.partition);
      return { partition: entry.partition, beginOffset: entry.low, endOffset: entry.high, committedOffset: offset === undefined || BigInt(offset) < 0n ? null : offset };
    })
    .sort((left, right) => left.partition - right.partition);
}

/** Reads every topic up to the end offsets given. Rejects when nothing moves for `READ_STALL_MS`: a part of a log is no evidence. */
async function readAll(kafka: Kafka, groupId: string, ends: ReadonlyMap<string, readonly TopicBounds[]>): Promise<RawRecord[]> {
  const records: RawRecord[] = [];
  const left = new Map<string, bigint>();
  // A reader that was thrown out of its group begins again at the front.
  const next = new Map<string, bigint>();
  for (const [topic, bounds] of ends) {
    for (const bound of bounds) if (BigInt(bound.endOffset) > BigInt(bound.beginOffset)) left.set(`${topic}/${String(bound.partition)}`, BigInt(bound.endOffset));
  }
  if (left.size === 0) return records;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, sessionTimeout: 10_000, allowAutoTopicCreation: false });
  let progress: (() => void) | undefined;
  let crashed: ((cause: Error) => void) | undefined;
  const failure = new Promise<never>((_, reject) => {
    crashed = reject;
  });
  failure.catch(() => undefined);
  consumer.on(consumer.events.CRASH, (event) => crashed?.(event.payload.error));
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...ends.keys()], fromBeginning: true });
    const complete = new Promise<void>((resolve) => {
      progress = () => {
        if (left.size === 0) resolve();
      };
    });
    await consumer.run({
      autoCommit: false,
      eachBatch: ({ batch }) => {
        const key = `${batch.topic}/${String(batch.partition)}`;
        const end = left.get(key);
        if (end === undefined) return Promise.resolve();
        for (const message of batch.messages) {
          const offset = BigInt(message.offset);
          if (offset >= end || offset < (next.get(key) ?? 0n)) continue;
          records.push({ topic: batch.topic, partition: batch.partition, message });
          next.set(key, offset + 1n);
        }
        if (BigInt(batch.lastOffset()) + 1n >= end) left.delete(key);
        progress?.();
        return Promise.resolve();
      },
    });
    await Promise.race([complete, failure, stalled(records)]);
  } finally {
    await consumer.disconnect();
  }
  return records;
}

async function stalled(records: readonly RawRecord[]): Promise<never> {
  let seen = -1;
  while (records.length !== seen) {
    seen = records.length;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, READ_STALL_MS).unref();
    });
  }
  throw new Error(`reading the topics stopped after ${String(seen)} records`);
}


export async function harvestKafka(direct: HostPort, namespace: Namespace): Promise<KafkaFacts> {
  const kafka = new Kafka({
    clientId: 'lab-harvest',
    brokers: [`${direct.host}:${String(direct.port)}`],
    logLevel: logLevel.NOTHING,
    requestTimeout: 15_000,
    retry: { retries: 5, initialRetryTime: 100 },
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const bounds: Bounds = {
      ordersBounds: await boundsOf(admin, namespace.ordersTopic, namespace.ordersGroup),
      eventsBounds: await boundsOf(admin, namespace.eventsTopic, namespace.eventsGroup),
      closesBounds: await boundsOf(admin, namespace.closesTopic, namespace.closesGroup),
      deadLettersBounds: await boundsOf(admin, namespace.deadLettersTopic, namespace.deadLettersGroup),
    };
    const ends = new Map([
      [namespace.ordersTopic, bounds.ordersBounds], [namespace.eventsTopic, bounds.eventsBounds], [namespace.closesTopic, bounds.closesBounds],
      [namespace.deadLettersTopic, bounds.deadLettersBounds],
    ]);
    const raw = await readAll(kafka, `${namespace.id}.harvest`, new Map([...ends].filter(([, found]) => found.length > 0)));
    return sortOut(raw, namespace, bounds);
  } finally {
    await admin.disconnect();
  }
}

type Bounds = Pick<KafkaFacts, 'ordersBounds' | 'eventsBounds' | 'closesBounds' | 'deadLettersBounds'>;

function sortOut(raw: readonly RawRecord[], namespace: Namespace, bounds: Bounds): KafkaFacts {
  const orders: OrderLogRecord[] = [];
  const events: EventLogRecord[] = [];
  const closes: EventLogRecord[] = [];
  const deadLetters: DeadLetterRecord[] = [];
  const malformed: { topic: string; partition: number; offset: string; problem: string }[] = [];
  for (const { topic, partition, message } of raw) {
    const text = message.value?.toString('utf8') ?? '';
    const place = { partition, offset: message.offset, appendedAtMs: Number(message.timestamp) };
    if (topic === namespace.ordersTopic) {
      const parsed = parseOrderMessage(text);
      if (!parsed.ok) malformed.push({ topic, partition, offset: message.offset, problem: parsed.problems.join('; ') });
      else {
        const { messageId, reservationId, requestId, userId, skuId, reservedAtMs, expiresAtMs } = parsed.message;
        orders.push({ ...place, messageId, reservationId, requestId, userId, skuId, reservedAtMs, expiresAtMs });
      }
    } else if (topic === namespace.deadLettersTopic) {
      const letter = parseDeadLetterRecord(text);
      if (letter === null) malformed.push({ topic, partition, offset: message.offset, problem: 'no dead letter of the schema' });
      else deadLetters.push({ ...place, ...letter });
    } else {
      const event = parseEventRecord(text);
      if (event === null) malformed.push({ topic, partition, offset: message.offset, problem: 'no event of the schema' });
      else (topic === namespace.closesTopic ? closes : events).push({ ...place, ...event });
    }
  }
  return { orders, events, closes, deadLetters, malformed, ...bounds };
}
