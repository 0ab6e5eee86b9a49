/** For integration tests: one SKU on real servers with its topics and its mirror in Redis, roles composed over them, and looks at what became of it. */
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';

import { parseDeadLetter, type DeadLetter } from '../../domain/dead-letter.js';
import { encodeOrderMessage, type OrderMessage } from '../../domain/order-message.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleName } from '../../domain/roles.js';
import { composeRole } from '../compose.js';
import type { RoleOverrides } from '../compose/ports.js';
import { message, openCase, type LedgerCase } from '../ledger/ledger-case.test-support.js';
import { deleteTopics, ensureTopics } from '../order-log/topics.js';
import type { RunningRole } from '../role.js';
import { stockKeys } from '../stock/keys.js';
import { connectStock } from '../stock/redis-stock.js';

export interface DeadLetterCase extends AsyncDisposable {
  readonly fresh: LedgerCase;
  start(role: RoleName, overrides?: RoleOverrides, change?: Partial<RoleConfig>): Promise<RunningRole>;
  /** Reserves in Redis, up to 64 at once, and returns the messages that a gateway would send. */
  reserve(count: number): Promise<OrderMessage[]>;
  produce(values: readonly (OrderMessage | string)[]): Promise<void>;
  /** The dead-letter topic from its beginning to its present end. */
  letters(): Promise<DeadLetter[]>;
  redisStock(): Promise<number>;
  /** A trigger that refuses the orders of requests that begin with `bad`. */
  refuseBad(): Promise<void>;
  allowBad(): Promise<void>;
}

export async function openDeadLetterCase(stock: number): Promise<DeadLetterCase> {
  const fresh = await openCase({ stock, consumer: 'batch:500', tuning: { resendAfterMs: 600_000 } });
  const { config } = fresh;
  const { namespace, addresses } = config;
  await ensureTopics({ address: addresses.kafka, namespace, partitions: 1 });
  const sku = { activityId: config.activityId, skuId: config.skuIds[0] ?? '' };
  const mirror = connectStock(addresses.redis, namespace);
  await mirror.whenConnected(5_000);
  const { version } = await fresh.one<{ version: string }>('select version from seckill_activity');
  await mirror.warmUp(sku, { stock, meta: { activityVersion: version, startAtMs: 1, endAtMs: 9_000_000_000_000, unitPrice: '9900', currency: 'CNY', status: 'open', epoch: '1' } });
  const kafka = new Kafka({ clientId: 'test', brokers: [`${addresses.kafka.host}:${String(addresses.kafka.port)}`], logLevel: logLevel.NOTHING });
  const redis = new Redis({ ...addresses.redis });
  const roles: RunningRole[] = [];
  const keys = stockKeys(namespace.redisPrefix, sku);

  return {
    fresh,
    async start(role, overrides = {}, change = {}) {
      const running = await composeRole({ ...config, role, instance: `${role}-1`, ...change }, { log: (level, text, fields) => void fresh.logs.push({ level, text, fields }), ...overrides });
      roles.push(running);
      return running;
    },
    async reserve(count) {
      const made = Array.from({ length: count }, () => message());
      for (let at = 0; at < made.length; at += 64) await mirror.reserve(sku, made.slice(at, at + 64));
      return made;
    },
    async produce(values) {
      const producer = kafka.producer({ allowAutoTopicCreation: false });
      await producer.connect();
      await producer.send({ topic: namespace.ordersTopic, messages: values.map((value) => (typeof value === 'string' ? { key: 'k', value } : { key: value.reservationId, value: encodeOrderMessage(value) })) });
      await producer.disconnect();
    },
    async letters() {
      const admin = kafka.admin();
      await admin.connect();
      const end = (await admin.fetchTopicOffsets(namespace.deadLettersTopic)).reduce((sum, { high }) => sum + Number(high), 0);
      await admin.disconnect();
      const found: DeadLetter[] = [];
      if (end === 0) return found;
      const consumer = kafka.consumer({ groupId: `${namespace.id}.look-${String(Math.random())}` });
      await consumer.connect();
      await consumer.subscribe({ topics: [namespace.deadLettersTopic], fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        consumer.run({
          eachMessage: ({ message: { value } }) => {
            const parsed = parseDeadLetter(value?.toString() ?? '');
            if (parsed.ok) found.push(parsed.letter);
            else reject(new Error(parsed.problems.join()));
            if (found.length >= end) resolve();
            return Promise.resolve();
          },
        }).catch(reject);
      });
      await consumer.disconnect();
      return found;
    },
    redisStock: async () => Number(await redis.get(keys.stock)),
    refuseBad: async () => {
      await fresh.client.query(`create function no_order() returns trigger language plpgsql as $$ begin if new.request_id like 'bad%' then raise exception 'not this one'; end if; return new; end $$;
        create trigger no_order before insert on orders for each row execute function no_order()`);
    },
    allowBad: async () => {
      await fresh.client.query('drop trigger no_order on orders; drop function no_order()');
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(roles.map((role) => role.stop()));
      await mirror.close();
      await deleteTopics(addresses.kafka, namespace);
      const left = await redis.keys(`${namespace.redisPrefix}*`);
      if (left.length > 0) await redis.del(...left);
      redis.disconnect();
      await fresh[Symbol.asyncDispose]();
    },
  };
}
