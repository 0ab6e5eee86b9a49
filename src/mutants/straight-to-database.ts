/**
 * straight-to-database: without Redis the gateway lets everybody through to the orders (paper `004` §10: the most dangerous way to degrade). The guard is gone when
 * it is needed, and what is sold meanwhile Redis will sell again.
 */
import { ReserveCode } from '../domain/reason-codes.js';
import { freshRecord } from '../system/stock/record-codec.js';
import type { SkuMeta, StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { redisAway } from './plans/outages.js';

function daring(stock: StockPort): StockPort {
  let lastMeta: SkuMeta | null = null;
  return {
    ...stock,
    async meta(sku) {
      const reply = await stock.meta(sku);
      if (reply.outcome === 'done') lastMeta = reply.meta;
      return reply.outcome === 'done' || lastMeta === null ? reply : { outcome: 'done', meta: lastMeta };
    },
    async reserve(sku, requests) {
      const reply = await stock.reserve(sku, requests);
      if (reply.outcome === 'done' || lastMeta === null) return reply;
      const { activityVersion } = lastMeta;
      return { outcome: 'done', decisions: requests.map((request) => ({ code: ReserveCode.RESERVED, record: freshRecord(request, activityVersion), stockLeft: null })) };
    },
  };
}

export const straightToDatabase: Mutant = {
  name: 'straight-to-database',
  description: 'While Redis is away the gateway accepts without it.',
  warnedBy: '004 §10 and 000 §7.11',
  caughtBy: 'fail-closed',
  showsUnder: redisAway,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { wrap: { stock: daring } } : {}),
};
