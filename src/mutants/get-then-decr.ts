/**
 * get-then-decr: the reserve script is taken apart into reads and writes of their own (paper `000` §10.2). Two copies of a request that read at the same time
 * are both new.
 */
import type { Redis } from 'ioredis';

import type { SkuKey } from '../domain/ids.js';
import { ReserveCode } from '../domain/reason-codes.js';
import type { RoleConfig } from '../domain/role-config.js';
import { stockKeys } from '../system/stock/keys.js';
import { freshRecord, packRecord, unpackRecord } from '../system/stock/record-codec.js';
import { openConnection } from '../system/stock/redis-connection.js';
import type { ReserveDecision, ReserveRequest, StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { slowRedis } from './plans/sale.js';

async function decide(redis: Redis, prefix: string, sku: SkuKey, request: ReserveRequest, version: string, dueInMs: number): Promise<ReserveDecision> {
  const keys = stockKeys(prefix, sku);
  const [stored, owner, stock] = await Promise.all([redis.hget(keys.requests, request.requestId), redis.hget(keys.users, request.userId), redis.get(keys.stock)]);
  const stockLeft = Number(stock ?? '0');
  if (stored !== null) return { code: ReserveCode.REPEATED, record: unpackRecord(request.requestId, stored), stockLeft };
  if (owner !== null) return { code: ReserveCode.USER_HAS_ONE, record: null, stockLeft };
  if (stockLeft < 1) return { code: ReserveCode.SOLD_OUT, record: null, stockLeft };
  const record = freshRecord(request, version);
  await Promise.all([
    redis.decr(keys.stock), redis.hset(keys.requests, request.requestId, packRecord(record)), redis.hset(keys.users, request.userId, request.requestId),
    redis.zadd(keys.pending, Date.now() + dueInMs, request.requestId),
  ]);
  return { code: ReserveCode.RESERVED, record, stockLeft: stockLeft - 1 };
}

function takenApart({ addresses, namespace, instance, tuning }: RoleConfig): (stock: StockPort) => StockPort {
  const redis = openConnection(addresses.redis, { name: `${instance}-apart`, commandTimeoutMs: tuning.reserveTimeoutMs });
  return (stock) => ({
    ...stock,
    async reserve(sku, requests) {
      const known = await stock.meta(sku);
      if (known.outcome !== 'done') return known;
      const version = known.meta?.activityVersion ?? '0';
      try {
        return { outcome: 'done', decisions: await Promise.all(requests.map((request) => decide(redis, namespace.redisPrefix, sku, request, version, tuning.resendAfterMs))) };
      } catch (error) {
        return { outcome: 'unknown', reason: String(error) };
      }
    },
    async close() {
      redis.disconnect();
      await stock.close();
    },
  });
}

export const getThenDecr: Mutant = {
  name: 'get-then-decr',
  description: 'Reserving is a GET and a DECR instead of one script.',
  warnedBy: '000 §10.2',
  caughtBy: 'one-answer-per-request',
  showsUnder: slowRedis,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { wrap: { stock: takenApart(config) } } : {}),
};
