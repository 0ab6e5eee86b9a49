/** Writing durable results back to Redis by `lua/apply_projection-5.lua`, in calls of at most 256 updates. */
import assert from 'node:assert';

import type { SkuKey } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import type { StockConnection } from './stock-connection.js';
import type { ProjectionReply, ProjectionUpdate } from './stock-port.js';

export const PROJECT_MAX = 256;

const APPLIED = { APPLIED: 'applied', STALE: 'stale', UNKNOWN_RECORD: 'unknown-record' } as const;

/**
 * One reply per update, in order. Every update may be sent again whatever its outcome: versions and the record's own mark of a returned
 * unit make a repeat harmless. After a page that failed, later pages are not sent, so that updates never overtake one another.
 */
export async function project(connection: StockConnection, sku: SkuKey, updates: readonly ProjectionUpdate[]): Promise<readonly ProjectionReply[]> {
  const replies: ProjectionReply[] = [];
  for (let start = 0; start < updates.length; start += PROJECT_MAX) {
    const page = updates.slice(start, start + PROJECT_MAX);
    const result = await projectPage(connection, sku, page);
    if (result.outcome === 'done') {
      replies.push(...result.value);
      continue;
    }
    replies.push(...page.map(() => result));
    const rest = updates.length - replies.length;
    const notTried = { outcome: 'surely-not-done', reason: `an earlier page failed: ${result.reason}` } as const;
    return [...replies, ...Array.from({ length: rest }, () => notTried)];
  }
  return replies;
}

async function projectPage(connection: StockConnection, sku: SkuKey, page: readonly ProjectionUpdate[]): Promise<CallResult<readonly ProjectionReply[]>> {
  const keys = connection.keys(sku);
  const result = await connection.script(
    'apply_projection',
    [keys.stock, keys.requests, keys.users, keys.pending, keys.meta],
    [page.length, page.map(packUpdate).join(' ')],
  );
  if (result.outcome !== 'done') return result;
  const [status, ...decisions] = result.value;
  if (status === 'PAUSED') return { outcome: 'surely-not-done', reason: 'the SKU is being rebuilt' };
  assert(decisions.length === page.length, 'apply_projection answered another number of decisions');
  return { outcome: 'done', value: decisions.map(replyOf) };
}

function packUpdate(update: ProjectionUpdate): string {
  assert(Number.isSafeInteger(update.version) && update.version >= 0, `not a version: ${String(update.version)}`);
  const fields = [
    update.requestId, update.reservationId, update.state, String(update.version), update.returnsUnit ? '1' : '0', update.clearsUserMark ? '1' : '0',
    update.orderId ?? '-', update.reason ?? '-',
  ];
  assert(fields.every((field) => /^[^\s|]+$/.test(field)), `an update that would break its format: ${fields.join(',')}`);
  return fields.join(' ');
}

function replyOf(text: string): ProjectionReply {
  const [code, unit] = text.split(' ');
  assert(code !== undefined && Object.hasOwn(APPLIED, code), `not a projection code: ${text}`);
  return { outcome: 'done', applied: APPLIED[code as keyof typeof APPLIED], unitReturned: unit === '1' };
}
