/**
 * What the gateway looks at in Redis besides reserving: how a SKU stands, a few times a second at most, and the accepted requests once per time that it sells out.
 */
import type { RequestId, SkuKey, UserId } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import type { EpochGuard } from './epoch-guard.js';
import { scanRecords } from './lookup.js';
import type { StockConnection } from './stock-connection.js';

export interface SkuStanding {
  readonly stockLeft: number;
  /** As in `SoldOut.turn`; null: on sale, or units that came back are about to be, or this Redis may not be believed (paused, another one, being rebuilt). */
  readonly soldOutTurn: string | null;
  /** Accepted requests without a final state. */
  readonly pendingCount: number;
  /** Accepted requests, whatever became of them. */
  readonly acceptedCount: number;
}

/** Reads beside the hot path. No call rejects for an operating failure. */
export interface StockView {
  /** All values of one moment; null value: this Redis has no such SKU. */
  standing(sku: SkuKey): Promise<CallResult<SkuStanding | null>>;
  /** One page of all accepted requests; start with cursor `0`, end when `nextCursor` is `0`. */
  accepted(sku: SkuKey, cursor: string, count: number): Promise<CallResult<AcceptedPage>>;
}

export interface AcceptedPage {
  readonly requests: readonly { readonly requestId: RequestId; /** Null: the record cannot be read. */ readonly userId: UserId | null }[];
  readonly nextCursor: string;
}

/** Epoch that a turn belongs to. */
export function epochOfTurn(turn: string): string {
  return turn.slice(0, turn.lastIndexOf(':'));
}

/** The name of one time of being sold out: epochs count turns anew. */
export function soldOutTurn(epoch: string, turn: string): string {
  return `${epoch}:${turn}`;
}

const SOLD_OUT = /^[0-9]+$/;

/** Views over an open connection. What is told of being sold out is only told of the Redis that reservations are made on. */
export function createStockView(connection: StockConnection, guard: EpochGuard): StockView {
  async function knownEpoch(sku: SkuKey): Promise<string | null> {
    const known = guard.known(sku);
    if (known !== null) return known.epoch;
    const answer = await guard.learn(sku);
    return answer.outcome === 'known' ? answer.known.epoch : null;
  }

  return {
    async standing(sku) {
      const trusted = await knownEpoch(sku);
      const keys = connection.keys(sku);
      const result = await connection.command('standing', () => connection.redis.multi().get(keys.stock).hmget(keys.meta, 'epoch', 'status', 'heldBack', 'soldOut').zcard(keys.pending).hlen(keys.requests).exec());
      if (result.outcome !== 'done') return result;
      const [stock, meta, pending, accepted] = (result.value ?? []).map(([error, value]) => (error === null ? value : null));
      const [epoch, status, heldBack, soldOut] = Array.isArray(meta) ? (meta as (string | null)[]) : [];
      if (typeof stock !== 'string' || epoch == null || typeof pending !== 'number' || typeof accepted !== 'number') return { outcome: 'done', value: null };
      // The connection may have been lost in between: then the guard knows nothing any more.
      const believed = epoch === trusted && guard.known(sku)?.epoch === trusted && status === 'open' && Number(heldBack ?? '0') === 0;
      const turn = believed && soldOut != null && SOLD_OUT.test(soldOut) ? soldOutTurn(epoch, soldOut) : null;
      return { outcome: 'done', value: { stockLeft: Number(stock), soldOutTurn: turn, pendingCount: pending, acceptedCount: accepted } };
    },
    async accepted(sku, cursor, count) {
      const result = await scanRecords(connection, sku, cursor, count);
      if (result.outcome !== 'done') return result;
      const { records, damaged, nextCursor } = result.value;
      const requests = [...records.map(({ requestId, userId }) => ({ requestId, userId })), ...damaged.map((requestId) => ({ requestId, userId: null }))];
      return { outcome: 'done', value: { requests, nextCursor } };
    },
  };
}
