/** What was delivered and done comes again: events once more at the end of their partition, done compensation tasks due again, and nothing else. */
import { v7 as uuidv7 } from 'uuid';
import { expect, inject, it } from 'vitest';

import { encodeOrderEvent, type OrderEvent } from '../domain/order-event.js';
import { namespaceOf } from '../domain/namespace.js';
import { createKafka } from '../system/order-log/kafka-client.js';
import { openCase } from '../system/ledger/ledger-case.test-support.js';
import { ensureTopics } from '../system/order-log/topics.js';
import { createRedelivery } from './redelivery.js';

const { direct } = inject('stack');

function eventOf(type: OrderEvent['type'], number: number): OrderEvent {
  const reservationId = uuidv7();
  return {
    schemaVersion: 1, eventId: uuidv7(), type, aggregateId: reservationId, aggregateVersion: 2, reservationId, requestId: `r-${String(number)}`, activityId: '1', skuId: '2', userId: '3',
    orderId: null, reason: null, returnsUnit: true, clearsUserMark: false,
  };
}

it('repeats events of the types asked for, at most so many, in the partition of the first', async () => {
  const namespace = namespaceOf(`redelivery${String(process.pid)}`);
  await ensureTopics({ address: direct.kafka, namespace, partitions: 3 });
  const kafka = createKafka({ address: direct.kafka, clientId: 'redelivery-test', requestTimeoutMs: 5_000, connectionTimeoutMs: 2_000, retries: 3 });
  const producer = kafka.producer();
  const admin = kafka.admin();
  await Promise.all([producer.connect(), admin.connect()]);
  try {
    const redelivery = createRedelivery(direct, namespace);
    expect(await redelivery.repeatEvents(['RESERVATION_RELEASED'], 10)).toBe(0);
    const events = [...Array.from({ length: 7 }, (_, n) => eventOf('RESERVATION_RELEASED', n)), ...Array.from({ length: 5 }, (_, n) => eventOf('ORDER_CREATED', n))];
    await producer.send({ topic: namespace.eventsTopic, acks: -1, messages: events.map((event) => ({ key: event.aggregateId, value: encodeOrderEvent(event) })) });
    const ends = async (): Promise<number[]> => (await admin.fetchTopicOffsets(namespace.eventsTopic)).map(({ high }) => Number(high));
    const before = await ends();
    expect(await redelivery.repeatEvents(['RESERVATION_RELEASED'], 100)).toBe(7);
    const after = await ends();
    expect(after.reduce((sum, end) => sum + end, 0)).toBe(19);
    // The same keys again: no partition grows by more than it held.
    for (const [partition, end] of after.entries()) expect(end - (before[partition] ?? 0)).toBeLessThanOrEqual(before[partition] ?? 0);
    expect(await redelivery.repeatEvents(['RESERVATION_RELEASED'], 2)).toBe(2);
  } finally {
    await Promise.all([producer.disconnect(), admin.disconnect()]);
  }
}, 60_000);

it('asks for releases of what has ended, each time by tasks of its own, and of nothing else', async () => {
  await using ledgerCase = await openCase({ stock: 1 });
  const reservation = async (status: number): Promise<string> => {
    const reservationId = uuidv7();
    await ledgerCase.client.query(
      `INSERT INTO inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, inventory_bucket, order_id, status, redis_reserved_at, expires_at, released_at)
       VALUES ($1, $2, $3, 1, 2, 3, 0, CASE WHEN $4::int = 10 THEN 7 END, $4::smallint, statement_timestamp(), statement_timestamp() + interval '1 minute', CASE WHEN $4::int = 40 THEN statement_timestamp() END)`,
      [reservationId, `r-${reservationId}`, uuidv7(), status],
    );
    return reservationId;
  };
  const ended = [await reservation(20), await reservation(40), await reservation(50)];
  for (const status of [0, 10, 30, 60]) await reservation(status);
  const redelivery = createRedelivery(direct, ledgerCase.config.namespace);
  expect([await redelivery.askForReleases(100), await redelivery.askForReleases(2)]).toEqual([3, 2]);
  const { rows } = await ledgerCase.client.query<{ reservation_id: string }>('SELECT DISTINCT reservation_id FROM compensation_task WHERE task_type = 10 AND status = 0');
  expect(rows.map((row) => row.reservation_id).sort()).toEqual(ended.sort());
}, 60_000);

it('makes done compensation tasks due again, and leaves the others as they are', async () => {
  await using ledgerCase = await openCase({ stock: 1 });
  const insert = (status: number): Promise<unknown> =>
    ledgerCase.client.query(
      `INSERT INTO compensation_task (task_id, idempotency_key, task_type, reservation_id, payload, status, completed_at) VALUES ($1, $2, 10, $3, '{}', $4::smallint, CASE WHEN $4::int = 20 THEN statement_timestamp() END)`,
      [uuidv7(), uuidv7(), uuidv7(), status],
    );
  for (const status of [20, 20, 20, 0, 40]) await insert(status);
  const redelivery = createRedelivery(direct, ledgerCase.config.namespace);
  expect(await redelivery.repeatCompensations(2)).toBe(2);
  const { rows } = await ledgerCase.client.query<{ status: number; tasks: string }>('SELECT status, count(*) AS tasks FROM compensation_task GROUP BY status ORDER BY status');
  expect(rows).toEqual([{ status: 0, tasks: '3' }, { status: 20, tasks: '1' }, { status: 40, tasks: '1' }]);
}, 60_000);
