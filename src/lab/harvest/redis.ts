/**
 * Harvest of Redis: every key under the run's prefix, on the primary's direct connection. A key that nobody knows and a record that cannot be
 * read are facts too.
 */
import type { Redis } from 'ioredis';

import type { SkuKey } from '../../domain/ids.js';
import type { Namespace } from '../../domain/namespace.js';
import type { RedisFacts, RedisRecord } from '../../facts/store-facts.js';
import { holdsKey, permitsPrefix, stockKeys } from '../../system/stock/keys.js';
import { unpackRecord } from '../../system/stock/record-codec.js';

const PAGE = 2_000;

async function hashEntries(redis: Redis, key: string): Promise<[string, string][]> {
  // HSCAN may show a field twice while the table is rehashed: last one wins.
  const entries = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, page] = await redis.hscan(key, cursor, 'COUNT', PAGE);
    cursor = next;
    for (let at = 0; at + 1 < page.length; at += 2) entries.set(page[at] ?? '', page[at + 1] ?? '');
  } while (cursor !== '0');
  return [...entries];
}

async function keysUnder(redis: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, page] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', String(PAGE));
    cursor = next;
    for (const key of page) found.add(key);
  } while (cursor !== '0');
  return [...found];
}

/** The nonces that are spent, as the gateways' book has them: `user:nonce` → request id, in one hash for each span of time. */
async function spentPermits(redis: Redis, prefix: string, problems: string[]): Promise<RedisFacts['permits']> {
  const permits: { userId: string; nonce: string; requestId: string }[] = [];
  for (const key of await keysUnder(redis, prefix)) {
    for (const [field, requestId] of await hashEntries(redis, key)) {
      const [userId, nonce, ...more] = field.split(':');
      if (userId === undefined || nonce === undefined || more.length > 0) problems.push(`spent permit ${field}`);
      else permits.push({ userId, nonce, requestId });
    }
  }
  return permits;
}

async function unknownKeys(redis: Redis, prefix: string, isKnown: (key: string) => boolean): Promise<string[]> {
  const unknown: string[] = [];
  let cursor = '0';
  do {
    const [next, page] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', String(PAGE));
    cursor = next;
    for (const key of page) if (!isKnown(key)) unknown.push(`unknown key ${key}`);
  } while (cursor !== '0');
  return [...new Set(unknown)];
}

/** `run_id` of a reply to `INFO server`. */
export function serverRunId(info: string): string {
  return /^run_id:(\S+)/m.exec(info)?.[1] ?? '';
}

export async function harvestRedis(redis: Redis, namespace: Namespace, sku: SkuKey): Promise<RedisFacts> {
  const keys = stockKeys(namespace.redisPrefix, sku);
  const stockText = await redis.get(keys.stock);
  const problems: string[] = [];
  const stock = stockText === null ? null : Number(stockText);
  if (stock !== null && !Number.isSafeInteger(stock)) problems.push(`the stock key holds ${JSON.stringify(stockText)}`);
  const records: RedisRecord[] = [];
  for (const [requestId, packed] of await hashEntries(redis, keys.requests)) {
    const record = unpackRecord(requestId, packed);
    if (record === null) problems.push(`record of request ${requestId} cannot be read: ${packed.slice(0, 200)}`);
    else records.push(record);
  }
  const users = (await hashEntries(redis, keys.users)).map(([userId, requestId]) => ({ userId, requestId }));
  const pending = await redis.zrange(keys.pending, '0', '-1');
  const known = new Set<string>([...(Object.values(keys) as string[]), holdsKey(namespace.redisPrefix, sku.activityId)]);
  const permits = permitsPrefix(namespace.redisPrefix, sku);
  const spent = await spentPermits(redis, permits, problems);
  problems.push(...(await unknownKeys(redis, namespace.redisPrefix, (key) => known.has(key) || key.startsWith(permits))));
  return { stock: problems.length > 0 && !Number.isSafeInteger(stock) ? null : stock, meta: await redis.hgetall(keys.meta), records, users, pending, permits: spent, problems, runId: serverRunId(await redis.info('server')) };
}
