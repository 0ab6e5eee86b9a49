/**
 * absolute-set-repair: somebody compares the ledgers, finds the counter of Redis wrong, and sets it to what it should have been (paper `004` §12: "SET stock = 173").
 * What was reserved between his look and his SET is on sale again. He does so once.
 */
import { openConnection } from '../system/stock/redis-connection.js';
import { stockKeys } from '../system/stock/keys.js';
import type { RoleConfig } from '../domain/role-config.js';
import type { RedisMirror } from '../system/stock/mirror.js';
import type { Mutant } from './mutant.js';
import { counterOff } from './plans/outages.js';

/** From the first look that shows the counter wrong until somebody has typed the command. */
const TYPING_MS = 400;

function absolute({ addresses, instance, namespace }: RoleConfig): (mirror: RedisMirror) => RedisMirror {
  const redis = openConnection(addresses.redis, { name: `${instance}-console`, commandTimeoutMs: 2_000 });
  let seen: number | null = null;
  let done = false;
  return (mirror) => ({
    ...mirror,
    async contents(sku) {
      const contents = await mirror.contents(sku);
      if (contents.outcome === 'done') seen = contents.value.after.stock;
      return contents;
    },
    async adjust(sku, change) {
      if (change.stockDelta === 0) return mirror.adjust(sku, change);
      if (done) return { outcome: 'done', value: 'changed' };
      const target = (seen ?? 0) + change.stockDelta;
      const adjusted = await mirror.adjust(sku, change);
      if (adjusted.outcome !== 'done' || adjusted.value !== 'applied') return adjusted;
      done = true;
      await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
      await redis.set(stockKeys(namespace.redisPrefix, sku).stock, String(target));
      return adjusted;
    },
    async close() {
      redis.disconnect();
      await mirror.close();
    },
  });
}

export const absoluteSetRepair: Mutant = {
  name: 'absolute-set-repair',
  description: 'The counter of Redis is repaired by setting it to a value that was right a moment ago.',
  warnedBy: '004 §12',
  caughtBy: 'redis-conservation',
  showsUnder: counterOff,
  sql: [],
  overrides: (config) => (config.role === 'reconciler' ? { wrap: { mirror: absolute(config) } } : {}),
};
