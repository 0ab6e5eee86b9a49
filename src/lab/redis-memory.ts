/** The memory of the Redis that serves a run, in the hands of a fault: scripts, eviction, and the tail of its append-only file. */
import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

import type { SkuKey } from '../domain/ids.js';
import type { Namespace } from '../domain/namespace.js';
import type { HostPort } from '../domain/role-config.js';
import { LabError } from '../facts/lab-error.js';
import type { RedisMemory } from '../facts/targets.js';
import { stockKeys } from '../system/stock/keys.js';
import { directRedis } from './store-clients.js';

const FILLER_BYTES = 16_384;
const FILLER_SECONDS = 60;

/** `name:value` of INFO; 0 when it is not there. */
function figure(info: string, pattern: RegExp): number {
  return Number(pattern.exec(info)?.[1] ?? 0);
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
    keys: () =>
      asking(async (redis) => {
        const named = Object.entries(keys).filter(([name]) => name !== 'adjustments') as [string, string][];
        const there = await Promise.all(named.map(([, key]) => redis.exists(key)));
        return named.filter((_, index) => there[index] === 1).map(([name]) => name);
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
