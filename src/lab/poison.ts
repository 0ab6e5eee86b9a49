/**
 * Poison for the orders topic of a run, over direct connections (CASES C22). Its users, requests and reservations are none of the load's, so that a
 * judge can tell what became of it, and no buyer of the schedule is touched.
 */
import { Kafka, Partitioners, logLevel, type Message } from 'kafkajs';
import { v7 as uuidv7 } from 'uuid';

import { deadLetterId, parseDeadLetter } from '../domain/dead-letter.js';
import type { Namespace } from '../domain/namespace.js';
import { encodeOrderMessage, type OrderMessage } from '../domain/order-message.js';
import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import { LabError } from '../facts/lab-error.js';
import type { Poison } from '../facts/targets.js';
import { connectStock } from '../system/stock/redis-stock.js';
import { withPostgres } from './store-clients.js';

/** Longer than any storm: the scanner is not to send again what the lab has sent. */
const RESEND_AFTER_MS = 600_000;
/** What one reserve call takes. */
const RESERVE_BATCH = 64;
/** Users from here on are refused. Far above those of every load. */
const POISON_USERS_FROM = 9_100_000_000_000_000_000n;
const CONSTRAINT = 'ck_lab_poison_user';
const DUPLICATE_OBJECT = '42710';
const READ_BOUND_MS = 10_000;

export function createPoison(direct: { readonly kafka: HostPort; readonly postgres: PostgresAddress; readonly redisPrimary: HostPort }, namespace: Namespace): Poison {
  const kafka = new Kafka({ clientId: 'lab-poison', brokers: [`${direct.kafka.host}:${String(direct.kafka.port)}`], logLevel: logLevel.NOTHING, retry: { retries: 3, initialRetryTime: 100 } });
  let users = POISON_USERS_FROM;
  let read = { end: 0, letters: 0 };
  let reads = 0;

  async function produce(messages: readonly Message[]): Promise<void> {
    const producer = kafka.producer({ allowAutoTopicCreation: false, createPartitioner: Partitioners.DefaultPartitioner, retry: { retries: 0 } });
    await producer.connect();
    try {
      await producer.send({ topic: namespace.ordersTopic, acks: -1, messages: [...messages] });
    } finally {
      await producer.disconnect();
    }
  }

  const onDatabase = <T>(work: Parameters<typeof withPostgres<T>>[2]): Promise<T> => withPostgres(direct.postgres, namespace.database, work);

  async function goodMessage(): Promise<() => OrderMessage> {
    const { rows } = await onDatabase((client) => client.query<{ activity_id: string; sku_id: string; version: string }>(
      'SELECT s.activity_id, s.sku_id, a.version FROM seckill_sku AS s JOIN seckill_activity AS a USING (activity_id) ORDER BY 1, 2 LIMIT 1'));
    const [sku] = rows;
    if (sku === undefined) throw new LabError('SYSTEM_NOT_READY', 'the run has no SKU to poison', 'look at the log of postgres in the run folder');
    return () => {
      users += 1n;
      const nowMs = Date.now();
      return {
        schemaVersion: 1, messageId: uuidv7(), reservationId: uuidv7(), requestId: `poison-${String(users - POISON_USERS_FROM)}`, activityId: sku.activity_id,
        activityVersion: sku.version, skuId: sku.sku_id, userId: String(users), purchaseNo: 1, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs: nowMs, expiresAtMs: nowMs + 600_000,
      };
    };
  }

  /** As a gateway does, in the same script. How many Redis made; with none left to sell it makes fewer. */
  async function reserveInRedis(messages: readonly OrderMessage[]): Promise<number> {
    const [first] = messages;
    if (first === undefined) return 0;
    const stock = connectStock(direct.redisPrimary, namespace, { connectionName: 'lab-poison', commandTimeoutMs: 5_000, resendAfterMs: RESEND_AFTER_MS });
    try {
      await stock.whenConnected(5_000);
      let made = 0;
      for (let from = 0; from < messages.length; from += RESERVE_BATCH) {
        const reply = await stock.reserve({ activityId: first.activityId, skuId: first.skuId }, messages.slice(from, from + RESERVE_BATCH));
        if (reply.outcome === 'done') made += reply.decisions.filter(({ code }) => code === 'RESERVED').length;
      }
      return made;
    } finally {
      await stock.close();
    }
  }

  return {
    async produceMalformed(count) {
      const message = await goodMessage();
      await produce(Array.from({ length: count }, (_, index) => malformed(index, message())));
    },
    async produceRefused(count) {
      // Rows that are there are not looked at, so the table is locked for a moment only. It stays: nobody of the load is touched by it.
      await onDatabase((client) => client.query(`ALTER TABLE orders ADD CONSTRAINT ${CONSTRAINT} CHECK (user_id < ${String(POISON_USERS_FROM)}) NOT VALID`)).catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== DUPLICATE_OBJECT) throw error;
      });
      const message = await goodMessage();
      const messages = Array.from({ length: count }, () => message());
      const reserved = await reserveInRedis(messages.filter((_, index) => index % 2 === 0));
      await produce(messages.map((each) => ({ key: each.reservationId, value: encodeOrderMessage(each) })));
      return { reserved };
    },
    async deadLetters() {
      const admin = kafka.admin();
      await admin.connect();
      try {
        const offsets = await admin.fetchTopicOffsets(namespace.deadLettersTopic);
        const end = offsets.reduce((sum, { high }) => sum + Number(high), 0);
        if (end !== read.end) {
          reads += 1;
          const groupId = `${namespace.id}.lab-poison-${String(reads)}`;
          read = { end, letters: (await lettersUpTo(kafka, groupId, namespace.deadLettersTopic, end)).size };
          await admin.deleteGroups([groupId]).catch(() => undefined);
        }
        return read.letters;
      } finally {
        await admin.disconnect();
      }
    },
  };
}

/** Ids of the dead letters in the first `end` records of the topic. A letter that was sent twice is one. */
async function lettersUpTo(kafka: Kafka, groupId: string, topic: string, end: number): Promise<ReadonlySet<string>> {
  const letters = new Set<string>();
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, allowAutoTopicCreation: false });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    let seen = 0;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new LabError('STACK_GONE', `the dead-letter topic could not be read within ${String(READ_BOUND_MS)} ms`, 'see the log of kafka in the folder of the stack'));
      }, READ_BOUND_MS);
      const run = consumer.run({
        autoCommit: false,
        eachMessage: ({ partition, message: { value, offset } }) => {
          const parsed = parseDeadLetter(value?.toString('utf8') ?? '');
          letters.add(parsed.ok ? deadLetterId(parsed.letter) : `no letter at ${String(partition)}/${offset}`);
          seen += 1;
          if (seen >= end) {
            clearTimeout(timer);
            resolve();
          }
          return Promise.resolve();
        },
      });
      run.catch(reject);
    });
    return letters;
  } finally {
    await consumer.disconnect();
  }
}

/** Five ways of being no message; the last fits the schema and no column. */
function malformed(index: number, message: OrderMessage): Message {
  const text = encodeOrderMessage(message);
  const key = message.reservationId;
  switch (index % 5) {
    case 0:
      return { key, value: 'no message' };
    case 1:
      return { key, value: text.slice(0, text.length / 2) };
    case 2:
      return { key, value: Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]) };
    case 3:
      return { key: null, value: null };
    default:
      return { key, value: encodeOrderMessage({ ...message, purchaseNo: 40_000 }) };
  }
}
