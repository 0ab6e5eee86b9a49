/**
 * success-after-redis: the gateway calls it an order as soon as Redis has counted, and leaves the rest to whoever comes (paper `000` §15.1). What was told
 * may never become true: the order does not exist yet, and the final stock is not checked.
 */
import { ReserveCode } from '../domain/reason-codes.js';
import { RedisRecordState } from '../domain/status-codes.js';
import type { ReserveDecision, StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { plainSale } from './plans/sale.js';

function asOrdered(decision: ReserveDecision): ReserveDecision {
  const { code, record } = decision;
  return code === ReserveCode.RESERVED && record !== null ? { ...decision, code: ReserveCode.REPEATED, record: { ...record, state: RedisRecordState.ORDERED } } : decision;
}

function boastful(stock: StockPort): StockPort {
  return {
    ...stock,
    async reserve(sku, requests) {
      const reply = await stock.reserve(sku, requests);
      return reply.outcome === 'done' ? { ...reply, decisions: reply.decisions.map(asOrdered) } : reply;
    },
  };
}

export const successAfterRedis: Mutant = {
  name: 'success-after-redis',
  description: 'The gateway tells a client that it has an order when Redis alone has counted.',
  warnedBy: '000 §15.1',
  caughtBy: 'honest-answers',
  showsUnder: plainSale,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { wrap: { stock: boastful } } : {}),
};
