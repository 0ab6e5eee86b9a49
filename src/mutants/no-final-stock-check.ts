/**
 * no-final-stock-check: PostgreSQL takes a unit without asking whether there is one, since Redis has counted (paper `000` §15.12); and the gateways go on
 * with whatever Redis they find. Then a failover loses reservations, the replica sells their units again, and nobody is left to notice.
 */
import type { Redis } from 'ioredis';

import type { RoleConfig } from '../domain/role-config.js';
import type { RoleOverrides } from '../system/compose.js';
import { runIdOf } from '../system/stock/epoch-guard.js';
import { stockKeys } from '../system/stock/keys.js';
import type { RedisMirror } from '../system/stock/mirror.js';
import { openConnection } from '../system/stock/redis-connection.js';
import type { Mutant } from './mutant.js';
import { failoverSmall } from './plans/outages.js';
import { wrongStatement } from './wrong-source.js';

/** Writes the server's own run id where the guard looks for that of the Redis it knows. */
async function adopt(redis: Redis, { activityId, skuIds, namespace }: RoleConfig): Promise<void> {
  const runId = runIdOf(await redis.info('server'));
  for (const skuId of skuIds) {
    const { meta } = stockKeys(namespace.redisPrefix, { activityId, skuId });
    if ((await redis.exists(meta)) === 1) await redis.hset(meta, 'runId', runId);
  }
}

function adopting(config: RoleConfig): NonNullable<RoleOverrides['openRedis']> {
  return (address, options) => {
    const redis = openConnection(address, options);
    redis.on('ready', () => {
      adopt(redis, config).catch(() => undefined);
    });
    return redis;
  };
}

/** Never sees a Redis, so it never rebuilds one. */
function blind(mirror: RedisMirror): RedisMirror {
  return { ...mirror, state: () => Promise.resolve({ outcome: 'surely-not-done', reason: 'nobody looks' }) };
}

export const noFinalStockCheck: Mutant = {
  name: 'no-final-stock-check',
  description: 'PostgreSQL sells without a look at its stock, and gateways go on with any Redis they find.',
  warnedBy: '000 §15.12 and §6.5',
  caughtBy: 'no-oversell',
  showsUnder: failoverSmall,
  sql: [
    'ALTER TABLE sku_inventory DROP CONSTRAINT ck_inventory_nonnegative',
    'ALTER TABLE inventory_ledger DROP CONSTRAINT ck_ledger_result_nonnegative',
  ],
  overrides(config) {
    if (config.role === 'gateway') return { openRedis: adopting(config) };
    if (config.role === 'reconciler') return { wrap: { mirror: blind } };
    return config.role === 'consumer' ? { statements: { allocate_row_stock: wrongStatement('allocate_any_row_stock') } } : {};
  },
};
