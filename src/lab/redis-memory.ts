/** The memory of the Redis that serves a run, in the hands of a fault: scripts, eviction, and the tail of its append-only file. */
import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainableCommander, Redis } from 'ioredis';

import type { SkuKey } from '../domain/ids.js';
import type { Namespace } from '../domain/namespace.js';
import type { HostPort } from '../domain/role-config.js';
import { RedisRecordState } from '../domain/status-codes.js';
import { LabError } from '../facts/lab-error.js';
import type { RedisBooks, RedisHoldings, RedisMemory } from '../facts/targets.js';
import { stockKeys, type StockKeys } from '../system/stock/keys.js';
import { unpackRecord } from '../system/stock/record-codec.js';
import { directRedis } from './store-clients.js';

const FILLER_BYTES = 16_384;
const FILLER_SECONDS = 60;

/** `name:value` of INFO; 0 when it is not there. */
function figure(info: string, pattern: RegExp): number {
  return Number(pattern.exec(info)?.[1] ?? 0);
}

/** How many answers `countsOf` asks for. */
const COUNTS = 5;

function countsOf(multi: ChainableCommander, keys: StockKeys): ChainableCommander {
  return multi.exists(keys.stock).exists(keys.meta).hlen(keys.requests).hlen(keys.users).zcard(keys.pending);
}

/** The answers of a transaction or of commands in a row. Throws what the server said of the first command that it refused. */
async function answersOf(multi: ChainableCommander): Promise<readonly unknown[]> {
  return ((await multi.exec()) ?? []).map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}

function holdingsOf(answers: readonly unknown[]): RedisHoldings {
  const [stock, meta, records, marks, waiting] = answers.slice(0, COUNTS).map(Number) as [number, number, number, number, number];
  return { stock: stock === 1, meta: meta === 1, records, marks, waiting };
}

function fittingOf(records: Readonly<Record<string, string>>, waiting: ReadonlySet<string>): Omit<RedisBooks, keyof RedisHoldings> {
  const unsentAtMs: number[] = [];
  let marksDue = 0;
  let waitingMissing = 0;
  for (const [requestId, text] of Object.entries(records)) {
    const record = unpackRecord(requestId, text);
    if (record === null) continue;
    const { state } = record;
    const waits = state === RedisRecordState.PENDING || state === RedisRecordState.SENT;
    if (waits || state === RedisRecordState.ORDERED) marksDue += 1;
    if (waits && !waiting.has(requestId)) waitingMissing += 1;
    if (state === RedisRecordState.PENDING) unsentAtMs.push(record.reservedAtMs);
  }
  return { marksDue, waitingMissing, unsentAtMs };
}

/** @param directory folder of the primary; null where its files cannot be reached. */
export function createRedisMemory(direct: { readonly redisPrimary: HostPort }, directory: string | null, namespace: Namespace, sku: SkuKey): RedisMemory {
  const keys = stockKeys(namespace.redisPrefix, sku);
  let filled = 0;
  const asking = async <T>(question: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = directRedis(direct.redisPrimary);
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  };
  return {
    flushScripts: () =>
      asking(async (redis) => {
        await redis.script('FLUSH', 'SYNC');
      }),
    cachedScripts: () => asking(async (redis) => figure(await redis.info('memory'), /number_of_cached_scripts:(\d+)/)),
    scriptMisses: () => asking(async (redis) => figure(await redis.info('errorstats'), /errorstat_NOSCRIPT:count=(\d+)/)),
    evicted: () => asking(async (redis) => figure(await redis.info('stats'), /evicted_keys:(\d+)/)),
    // No transaction: a server that has nothing left to evict takes none.
    holdings: () => asking(async (redis) => holdingsOf(await answersOf(countsOf(redis.pipeline(), keys)))),
    books: () =>
      asking(async (redis) => {
        const answers = await answersOf(countsOf(redis.multi(), keys).hgetall(keys.requests).zrange(keys.pending, '0', '-1'));
        const [records, waiting] = answers.slice(COUNTS) as [Readonly<Record<string, string>>, readonly string[]];
        return { ...holdingsOf(answers), ...fittingOf(records, new Set(waiting)) };
      }),
    setBound: (policy, leftBytes) =>
      asking(async (redis) => {
        await redis.config('SET', 'maxmemory-policy', policy);
        const used = figure(await redis.info('memory'), /used_memory:(\d+)/);
        await redis.config('SET', 'maxmemory', leftBytes === null ? '0' : String(Math.max(1, used + leftBytes)));
      }),
    fill: (bytes) =>
      asking(async (redis) => {
        const value = Buffer.alloc(FILLER_BYTES, 0x2e);
        for (let left = bytes; left > 0; left -= FILLER_BYTES) {
          filled += 1;
          // Refused for want of memory is an answer too: then it is full.
          const taken = await redis.set(`${namespace.redisPrefix}lab-filler:${String(filled)}`, value, 'EX', FILLER_SECONDS).catch(() => null);
          if (taken === null) return;
        }
      }),
    empty: () =>
      asking(async (redis) => {
        const names = Array.from({ length: filled }, (_, index) => `${namespace.redisPrefix}lab-filler:${String(index + 1)}`);
        if (names.length > 0) await redis.unlink(...names);
        filled = 0;
      }),
    async cutTail(bytes) {
      if (directory === null) throw new LabError('STACK_GONE', 'the files of this Redis cannot be reached', 'run on a local stack');
      const folder = join(directory, 'appendonlydir');
      // One incremental file at a time grows; a base without commands behind it has no tail that a client was told of.
      const newest = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof')).sort().at(-1);
      if (newest === undefined) throw new LabError('STACK_GONE', `there is no append-only file in ${folder}`, 'look at the log of redis-primary');
      const file = join(folder, newest);
      const { size } = await stat(file);
      await truncate(file, Math.max(0, size - bytes));
      return Math.min(bytes, size);
    },
  };
}
