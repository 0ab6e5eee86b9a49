/**
 * Makes the past of a run come back over direct connections: events of its topic once more, compensation tasks that were done due again. Opens its clients
 * for each call; a fault needs it a few times in a run.
 */
import { Kafka, logLevel, type KafkaMessage } from 'kafkajs';

import type { Namespace } from '../domain/namespace.js';
import { parseOrderEvent } from '../domain/order-event.js';
import type { EventType } from '../domain/reason-codes.js';
import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import { CompensationStatus, CompensationType, ReservationStatus } from '../domain/status-codes.js';
import { LabError } from '../facts/lab-error.js';
import type { Redelivery } from '../facts/targets.js';
import { withPostgres } from './store-clients.js';

const READ_BOUND_MS = 10_000;
/** Whose unit has gone back, or was never taken. */
const ENDED = [ReservationStatus.REJECTED, ReservationStatus.RELEASED, ReservationStatus.EXPIRED] as const;

export function createRedelivery(direct: { readonly kafka: HostPort; readonly postgres: PostgresAddress }, namespace: Namespace): Redelivery {
  let calls = 0;
  return {
    async repeatEvents(types, most) {
      calls += 1;
      const kafka = new Kafka({ clientId: 'lab-redelivery', brokers: [`${direct.kafka.host}:${String(direct.kafka.port)}`], logLevel: logLevel.NOTHING, retry: { retries: 3, initialRetryTime: 100 } });
      const found = await readEvents(kafka, namespace.eventsTopic, `${namespace.id}.lab-redelivery-${String(calls)}`, types, most);
      if (found.length === 0) return 0;
      const producer = kafka.producer({ allowAutoTopicCreation: false });
      await producer.connect();
      try {
        // By their keys: a repeat has to follow the first in its partition, as a broker's own repeat would.
        await producer.send({ topic: namespace.eventsTopic, acks: -1, messages: found.map(({ key, value, headers }) => ({ key, value, ...(headers === undefined ? {} : { headers }) })) });
      } finally {
        await producer.disconnect();
      }
      return found.length;
    },
    repeatCompensations: (most) =>
      withPostgres(direct.postgres, namespace.database, async (client) => {
        const { rowCount } = await client.query(
          `UPDATE compensation_task SET status = $1, next_run_at = statement_timestamp(), completed_at = NULL, locked_by = NULL, locked_at = NULL, updated_at = statement_timestamp()
            WHERE task_id IN (SELECT task_id FROM compensation_task WHERE status = $2 ORDER BY completed_at, task_id LIMIT $3)`,
          [CompensationStatus.PENDING, CompensationStatus.DONE, most],
        );
        return rowCount ?? 0;
      }),
    askForReleases: (most) =>
      withPostgres(direct.postgres, namespace.database, async (client) => {
        calls += 1;
        const { rowCount } = await client.query(
          `INSERT INTO compensation_task (task_id, idempotency_key, task_type, reservation_id, payload)
           SELECT gen_random_uuid(), $1 || reservation_id::text, $2, reservation_id, '{}'
             FROM inventory_reservation WHERE status = ANY ($3) ORDER BY reservation_id LIMIT $4`,
          [`lab-release-${String(calls)}-`, CompensationType.RELEASE_REDIS, ENDED, most],
        );
        return rowCount ?? 0;
      }),
  };
}

/** Matching records of the topic as it is now, oldest first within each partition. */
async function readEvents(kafka: Kafka, topic: string, groupId: string, types: readonly EventType[], most: number): Promise<KafkaMessage[]> {
  const admin = kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(topic);
  const left = new Map(offsets.filter(({ high, low }) => BigInt(high) > BigInt(low)).map(({ partition, high }) => [partition, BigInt(high)]));
  const found: KafkaMessage[] = [];
  try {
    if (left.size === 0) return found;
    const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, allowAutoTopicCreation: false });
    await consumer.connect();
    try {
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new LabError('STACK_GONE', `the events topic could not be read within ${String(READ_BOUND_MS)} ms`, 'see the log of kafka in the folder of the stack'));
        }, READ_BOUND_MS);
        const run = consumer.run({
          autoCommit: false,
          eachBatch: ({ batch }) => {
            for (const message of batch.messages) if (found.length < most && isOneOf(types, message)) found.push(message);
            if (BigInt(batch.lastOffset()) + 1n >= (left.get(batch.partition) ?? 0n)) left.delete(batch.partition);
            if (left.size === 0 || found.length >= most) {
              clearTimeout(timer);
              resolve();
            }
            return Promise.resolve();
          },
        });
        run.catch(reject);
      });
    } finally {
      await consumer.disconnect();
    }
    return found;
  } finally {
    await admin.deleteGroups([groupId]).catch(() => undefined);
    await admin.disconnect();
  }
}

function isOneOf(types: readonly EventType[], { value }: KafkaMessage): boolean {
  const parsed = parseOrderEvent(value?.toString('utf8') ?? '');
  return parsed.ok && types.includes(parsed.event.type);
}
