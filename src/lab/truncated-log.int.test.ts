// C21, second half: the log is truncated above what the consumer has committed, so messages are gone that nobody has read. The scanner sends them again, and the harvest says
// that the topic is not whole any more: what judges then may say is in judge.test.ts.
import { Kafka, logLevel } from 'kafkajs';
import { expect, test, vi } from 'vitest';

import { openDeadLetterCase } from '../system/recovery/dead-letter-case.test-support.js';
import { harvestKafka } from './harvest/kafka.js';

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 45_000, interval: 100 });

test('C21: messages that were truncated unread are sent again; each reservation becomes one order, and the topic is known to be cut', async () => {
  await using here = await openDeadLetterCase(20);
  const { config } = here.fresh;
  const { ordersTopic, ordersGroup } = config.namespace;
  const made = await here.reserve(20);
  const consumer = await here.start('consumer');
  await here.produce(made.slice(0, 8));
  const { host, port } = config.addresses.kafka;
  const admin = new Kafka({ clientId: 'truncate', brokers: [`${host}:${String(port)}`], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const committed = async (): Promise<string | undefined> => (await admin.fetchOffsets({ groupId: ordersGroup, topics: [ordersTopic] }))[0]?.partitions[0]?.offset;
  try {
    await until(async () => { expect(await committed()).toBe('8'); });
    await consumer.stop();
    await here.produce(made.slice(8));
    await admin.deleteTopicRecords({ topic: ordersTopic, partitions: [{ partition: 0, offset: '20' }] });
    expect((await admin.fetchTopicOffsets(ordersTopic))[0]).toMatchObject({ low: '20', high: '20' });

    for (const role of ['consumer', 'relay', 'projector'] as const) await here.start(role);
    await here.start('scanner', {}, { tuning: { ...config.tuning, resendAfterMs: 200 } });
    await until(async () => { expect(await here.fresh.count('orders')).toBe(20); });
    expect(await here.fresh.one('select count(distinct reservation_id)::int as reservations, count(distinct user_id)::int as users from orders')).toEqual({ reservations: 20, users: 20 });
    expect(await here.fresh.held()).toBe(20);
    // The consumer went on from what is left, and never back to what is gone.
    await until(async () => { expect(Number(await committed())).toBeGreaterThanOrEqual(32); });
  } finally {
    await admin.disconnect();
  }
  const facts = await harvestKafka(config.addresses.kafka, config.namespace);
  expect(facts.ordersBounds).toMatchObject([{ beginOffset: '20' }]);
  expect(new Set(facts.orders.map((record) => record.reservationId))).toEqual(new Set(made.slice(8).map((message) => message.reservationId)));
});
