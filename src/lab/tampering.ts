/** Makes the ledgers of a run differ, by hand and over direct connections, so that a reconciler has something to find. */
import type { Redis } from 'ioredis';

import type { SkuKey } from '../domain/ids.js';
import type { Namespace } from '../domain/namespace.js';
import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import type { Tampering, TamperKind } from '../facts/targets.js';
import { RedisRecordState } from '../domain/status-codes.js';
import { stockKeys, type StockKeys } from '../system/stock/keys.js';
import { packRecord, unpackRecord } from '../system/stock/record-codec.js';
import type { StockRecord } from '../system/stock/stock-port.js';
import { serverRunId } from './harvest/redis.js';
import { directRedis, withPostgres } from './store-clients.js';

/** Users that no load has. */
const STRANGERS_FROM = 9_200_000_000_000_000_000n;
const PAGE = 500;

export function createTampering(direct: { readonly redisPrimary: HostPort; readonly postgres: PostgresAddress }, namespace: Namespace, sku: SkuKey): Tampering {
  const keys = stockKeys(namespace.redisPrefix, sku);
  const touched = new Set<string>();
  let strangers = STRANGERS_FROM;

  /** Reservations with an order, which nothing moves any more but a payment or a cancel. */
  async function ordered(redis: Redis, count: number): Promise<readonly StockRecord[]> {
    const found: StockRecord[] = [];
    let cursor = '0';
    do {
      const [next, flat] = await redis.hscan(keys.requests, cursor, 'COUNT', PAGE);
      cursor = next;
      for (let at = 0; at + 1 < flat.length && found.length < count; at += 2) {
        const record = unpackRecord(flat[at] ?? '', flat[at + 1] ?? '');
        if (record?.state !== RedisRecordState.ORDERED || touched.has(record.requestId)) continue;
        touched.add(record.requestId);
        found.push(record);
      }
    } while (cursor !== '0' && found.length < count);
    return found;
  }

  return {
    async tamper(kind, count) {
      const redis = directRedis(direct.redisPrimary);
      try {
        if (kind === 'stock-counter-off') {
          await redis.decrby(keys.stock, count);
          return ['stock'];
        }
        if (kind === 'user-mark-orphan') {
          const users = Array.from({ length: count }, () => String((strangers += 1n)));
          for (const userId of users) await redis.hset(keys.users, userId, `tampered-${userId}`);
          return users;
        }
        const records = await ordered(redis, count);
        for (const record of records) await spoil(redis, keys, kind, record);
        return records.map(({ requestId }) => requestId);
      } finally {
        redis.disconnect();
      }
    },
    async disownMirror() {
      const redis = directRedis(direct.redisPrimary);
      try {
        await redis.hset(keys.meta, 'runId', '0'.repeat(40));
      } finally {
        redis.disconnect();
      }
    },
    async mirrorMark() {
      const redis = directRedis(direct.redisPrimary);
      try {
        const [[runId, epoch], info] = await Promise.all([redis.hmget(keys.meta, 'runId', 'epoch'), redis.info('server')]);
        return { isOwn: runId === serverRunId(info), epoch: Number(epoch ?? '0') };
      } finally {
        redis.disconnect();
      }
    },
    repaired: (kind, subjects) =>
      withPostgres(direct.postgres, namespace.database, async (client) => {
        const { rows } = await client.query<{ subject: string }>('SELECT DISTINCT subject FROM reconciliation_adjustment WHERE kind = $1 AND status = 10 AND subject = ANY ($2)', [kind, [...subjects]]);
        return rows.map(({ subject }) => subject);
      }),
  };
}

async function spoil(redis: Redis, keys: StockKeys, kind: Exclude<TamperKind, 'stock-counter-off' | 'user-mark-orphan'>, record: StockRecord): Promise<void> {
  const { requestId, userId } = record;
  switch (kind) {
    case 'order-without-redis-record':
      // As a failover loses it: record, mark and the unit that was taken for it, together.
      await redis.multi().hdel(keys.requests, requestId).hdel(keys.users, userId).incr(keys.stock).exec();
      return;
    case 'redis-record-damaged':
      await redis.hset(keys.requests, requestId, 'damaged');
      return;
    case 'redis-state-behind':
      await redis.hset(keys.requests, requestId, packRecord({ ...record, state: RedisRecordState.SENT, orderId: null, appliedVersion: 0 }));
      return;
    case 'held-in-pg-returned-in-redis':
      await redis.multi().hset(keys.requests, requestId, packRecord({ ...record, unitReturned: true })).hdel(keys.users, userId).incr(keys.stock).exec();
      return;
    case 'user-mark-missing':
      await redis.hdel(keys.users, userId);
  }
}
