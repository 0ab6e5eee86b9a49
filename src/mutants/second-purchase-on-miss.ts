/**
 * second-purchase-on-miss: a query that finds nothing counts as "nothing was bought", and the user may buy again (paper `000` §15.11). The first purchase
 * was only on its way. The key that would have stopped the second order is gone, as in systems that number a user's purchases as they come.
 */
import type { RequestId, UserId } from '../domain/ids.js';
import { ReserveCode } from '../domain/reason-codes.js';
import { RedisRecordState } from '../domain/status-codes.js';
import type { RoleOverrides } from '../system/compose.js';
import type { RequestReader } from '../system/ledger/ledger-port.js';
import type { ReserveDecision, StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { redisBlinks } from './plans/outages.js';

function generous(): NonNullable<RoleOverrides['wrap']> {
  const owners = new Map<RequestId, UserId>();
  const mayBuyAgain = new Set<UserId>();

  /** Takes the mark of the user's reservation away, and nothing else: version 0 changes no state. */
  async function forget(stock: StockPort, sku: Parameters<StockPort['project']>[0], { record }: ReserveDecision): Promise<void> {
    if (record === null) return;
    const { requestId, reservationId, userId } = record;
    await stock.project(sku, [{ requestId, reservationId, userId, state: RedisRecordState.REJECTED, orderId: null, reason: null, version: 0, returnsUnit: false, clearsUserMark: true }]);
  }

  return {
    reader: (reader: RequestReader): RequestReader => ({
      ...reader,
      async lookup(sku, requestId) {
        const found = await reader.lookup(sku, requestId);
        const owner = owners.get(requestId);
        if (found.outcome === 'done' && found.state === null && owner !== undefined) mayBuyAgain.add(owner);
        return found;
      },
    }),
    stock: (stock: StockPort): StockPort => ({
      ...stock,
      async reserve(sku, requests) {
        for (const { requestId, userId } of requests) owners.set(requestId, userId);
        const reply = await stock.reserve(sku, requests);
        if (reply.outcome !== 'done') return reply;
        const decisions = await Promise.all(reply.decisions.map(async (decision, index) => {
          const request = requests[index];
          if (request === undefined || decision.code !== ReserveCode.USER_HAS_ONE || !mayBuyAgain.delete(request.userId)) return decision;
          await forget(stock, sku, decision);
          const again = await stock.reserve(sku, [request]);
          return again.outcome === 'done' ? (again.decisions[0] ?? decision) : decision;
        }));
        return { outcome: 'done', decisions };
      },
    }),
  };
}

export const secondPurchaseOnMiss: Mutant = {
  name: 'second-purchase-on-miss',
  description: 'A user whose request cannot be found may buy again.',
  warnedBy: '000 §15.11 and §7.11',
  caughtBy: 'one-order-per-user',
  showsUnder: redisBlinks,
  sql: ['ALTER TABLE orders DROP CONSTRAINT uq_orders_user_sku'],
  overrides: (config) => (config.role === 'gateway' ? { wrap: generous() } : {}),
};
