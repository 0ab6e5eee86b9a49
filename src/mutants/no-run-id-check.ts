/**
 * no-run-id-check: a gateway that takes whatever Redis answers for the one that it knows (paper `004` §11). After a failover it goes on reserving on a replica that
 * lacks the last reservations, until somebody else notices.
 */
import type { RoleConfig } from '../domain/role-config.js';
import { stockKeys } from '../system/stock/keys.js';
import { openConnection } from '../system/stock/redis-connection.js';
import type { Mutant } from './mutant.js';
import { failoverUnnoticed } from './plans/outages.js';

/** The server says of itself that it is the one that the SKU was warmed up on. */
function trusting({ namespace, activityId, skuIds }: RoleConfig): typeof openConnection {
  const { meta } = stockKeys(namespace.redisPrefix, { activityId, skuId: skuIds[0] ?? '' });
  return (address, options) => {
    const redis = openConnection(address, options);
    const info = redis.info.bind(redis);
    const claimed = async (): Promise<string> => {
      const [text, runId] = await Promise.all([info('server'), redis.hget(meta, 'runId')]);
      return runId === null ? text : text.replace(/^run_id:.*$/m, `run_id:${runId}`);
    };
    // ioredis asks it for everything when it connects, with a callback.
    return Object.assign(redis, { info: (...args: unknown[]): Promise<unknown> => (args[0] === 'server' ? claimed() : (Reflect.apply(info, redis, args) as Promise<unknown>)) });
  };
}

export const noRunIdCheck: Mutant = {
  name: 'no-run-id-check',
  description: 'The gateway never asks whether Redis is still the server that it knows.',
  warnedBy: '004 §11',
  caughtBy: 'fail-closed',
  showsUnder: failoverUnnoticed,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { openRedis: trusting(config) } : {}),
};
