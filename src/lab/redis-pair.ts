/** The Redis pair of a stack in the hands of a fault: counting on both servers, and making the replica the primary. */
import type { Redis } from 'ioredis';

import type { SkuKey } from '../domain/ids.js';
import type { Namespace } from '../domain/namespace.js';
import type { HostPort } from '../domain/role-config.js';
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import type { RedisPair, RedisServer } from '../facts/targets.js';
import { stockKeys } from '../system/stock/keys.js';
import { unpackRecord } from '../system/stock/record-codec.js';
import { directRedis } from './store-clients.js';

export interface PairOfStack {
  readonly description: Pick<StackDescription, 'direct'>;
  setRedisPrimary(name: RedisServer): void;
}

const PROMOTION_BOUND_MS = 5_000;
const PAGE = 2_000;

/** Made before any failover: the addresses are those of the servers, whatever role they play later. */
export function createRedisPair(stack: PairOfStack, namespace: Namespace, sku: SkuKey): RedisPair {
  const { redisPrimary, redisReplica } = stack.description.direct;
  const addresses: Readonly<Record<RedisServer, HostPort>> = { 'redis-primary': redisPrimary, 'redis-replica': redisReplica };
  const keys = stockKeys(namespace.redisPrefix, sku);

  async function asking<T>(server: RedisServer, question: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = directRedis(addresses[server]);
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }
  const isPrimary = async (server: RedisServer): Promise<boolean> => {
    const reply: unknown = await asking(server, (redis) => redis.role()).catch(() => null);
    return Array.isArray(reply) && reply[0] === 'master';
  };

  return {
    addressOf: (server) => addresses[server],
    countOn: (server) => asking(server, (redis) => redis.hlen(keys.requests)),
    isPrimary,
    reservedOn: (server) =>
      asking(server, async (redis) => {
        const reserved = new Map<string, number>();
        let cursor = '0';
        do {
          const [next, flat] = await redis.hscan(keys.requests, cursor, 'COUNT', PAGE);
          cursor = next;
          for (let at = 0; at + 1 < flat.length; at += 2) {
            const requestId = flat[at] ?? '';
            const record = unpackRecord(requestId, flat[at + 1] ?? '');
            if (record !== null) reserved.set(requestId, record.reservedAtMs);
          }
        } while (cursor !== '0');
        return reserved;
      }),
    async promoteReplica() {
      await asking('redis-replica', (redis) => redis.call('REPLICAOF', 'NO', 'ONE'));
      const deadline = performance.now() + PROMOTION_BOUND_MS;
      while (!(await isPrimary('redis-replica'))) {
        if (performance.now() > deadline) throw new LabError('STACK_GONE', 'the Redis replica did not become a primary', 'see the log of redis-replica in the folder of the stack');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      stack.setRedisPrimary('redis-replica');
    },
  };
}
