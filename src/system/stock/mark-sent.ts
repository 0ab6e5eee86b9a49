/** Marking confirmed messages: PENDING → SENT by `lua/mark_sent-2.lua`. Best effort: nothing depends on it. */
import type { RequestId, SkuKey } from '../../domain/ids.js';
import type { CallOutcome } from '../../domain/reason-codes.js';
import type { StockConnection } from './stock-connection.js';

export const MARK_SENT_MAX = 500;

/** Marks any number of requests, in calls of 500. `recheckInMs`: when the scanner looks at them again. */
export async function markSent(connection: StockConnection, sku: SkuKey, requestIds: readonly RequestId[], recheckInMs: number): Promise<CallOutcome> {
  const { requests, pending } = connection.keys(sku);
  for (let start = 0; start < requestIds.length; start += MARK_SENT_MAX) {
    const page = requestIds.slice(start, start + MARK_SENT_MAX).join(' ');
    const result = await connection.script('mark_sent', [requests, pending], [recheckInMs, page]);
    if (result.outcome !== 'done') return result.outcome;
  }
  return 'done';
}
