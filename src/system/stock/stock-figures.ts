/** Sizes of one SKU in Redis and the state of its replication, for gauges: every one of them O(1) or O(log n), asked every few seconds. */
import type { SkuKey } from '../../domain/ids.js';
import { runIdOf } from './epoch-guard.js';
import type { StockConnection } from './stock-connection.js';

export interface StockFigures {
  /** Units that can still be reserved; null: no such SKU here. */
  readonly stock: number | null;
  /** Requests ever accepted. */
  readonly reserved: number;
  readonly pending: number;
  /** How long the most overdue entry of the pending index has been due; 0 when none is. */
  readonly overdueMs: number;
  /** Changes when the primary is another process: a restart or a failover. */
  readonly runId: string;
  readonly replicas: number;
  /** Bytes that the slowest connected replica has not acknowledged; 0 without a replica. */
  readonly replicationLagBytes: number;
}

/** null: Redis did not answer. */
export async function stockFigures(connection: StockConnection, sku: SkuKey): Promise<StockFigures | null> {
  const { stock, requests, pending } = connection.keys(sku);
  const { redis } = connection;
  const [sizes, replication, server] = await Promise.all([
    connection.command('figures', () => redis.multi().get(stock).hlen(requests).zcard(pending).zrange(pending, '0', '0', 'WITHSCORES').time().exec()),
    connection.command('figures', () => redis.info('replication')),
    connection.command('figures', () => redis.info('server')),
  ]);
  if (sizes.outcome !== 'done' || replication.outcome !== 'done' || server.outcome !== 'done') return null;
  const [left, reserved, count, first, time] = (sizes.value ?? []).map(([error, value]) => (error === null ? value : null));
  const dueAtMs = Array.isArray(first) && first[1] !== undefined ? Number(first[1]) : null;
  const nowMs = Array.isArray(time) ? Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000) : 0;
  return {
    stock: typeof left === 'string' ? Number(left) : null,
    reserved: Number(reserved ?? 0),
    pending: Number(count ?? 0),
    overdueMs: dueAtMs === null ? 0 : Math.max(0, nowMs - dueAtMs),
    runId: runIdOf(server.value),
    ...replicationOf(replication.value),
  };
}

/** From `INFO replication` of a primary: `slave0:ip=…,port=…,state=online,offset=123,lag=0`. */
export function replicationOf(info: string): Pick<StockFigures, 'replicas' | 'replicationLagBytes'> {
  const end = Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1] ?? 0);
  const offsets = [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\boffset=(\d+)/gm)].map((match) => Number(match[1]));
  return { replicas: offsets.length, replicationLagBytes: offsets.length === 0 ? 0 : Math.max(0, end - Math.min(...offsets)) };
}
