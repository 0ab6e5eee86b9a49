/** Looks at the stores while the storm blows, for the faces only: best effort, about once a second, never in the way. */
import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';
import type pg from 'pg';

import type { Progress } from '../facts/lab-event.js';
import { stockKeys } from '../system/stock/keys.js';
import { consumerLag, type DrainProbe } from './drained.js';

export type StoreCounts = Pick<Progress, 'stockLeft' | 'orders' | 'consumerLag' | 'pending'>;

const UNKNOWN: StoreCounts = { stockLeft: null, orders: null, consumerLag: null, pending: null };

async function ofRedis(redis: Redis, probe: DrainProbe): Promise<Pick<StoreCounts, 'stockLeft' | 'pending'>> {
  const keys = stockKeys(probe.namespace.redisPrefix, probe.sku);
  const [stock, pending] = await Promise.all([redis.get(keys.stock), redis.zcard(keys.pending)]);
  return { stockLeft: stock === null ? null : Number(stock), pending };
}

async function ofPostgres(postgres: pg.Client): Promise<Pick<StoreCounts, 'orders'>> {
  const result = await postgres.query<{ orders: string }>('SELECT count(*) AS orders FROM orders');
  return { orders: Number(result.rows[0]?.orders ?? 0) };
}

async function ofKafka(admin: Admin, probe: DrainProbe): Promise<Pick<StoreCounts, 'consumerLag'>> {
  return { consumerLag: await consumerLag(admin, probe.namespace.ordersTopic, probe.namespace.ordersGroup) };
}

/** A watcher whose `latest` is at most about a second old; a store that does not answer shows null. */
export function watchStores(probe: DrainProbe): { latest(): StoreCounts; stop(): void } {
  let latest = UNKNOWN;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const answers = await Promise.allSettled([ofRedis(probe.redis, probe), ofPostgres(probe.postgres), ofKafka(probe.admin, probe)]);
    latest = answers.reduce<StoreCounts>((counts, answer) => (answer.status === 'fulfilled' ? { ...counts, ...answer.value } : counts), UNKNOWN);
    if (!stopped) timer = setTimeout(() => void look(), 1_000);
  };
  void look();
  return {
    latest: () => latest,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
