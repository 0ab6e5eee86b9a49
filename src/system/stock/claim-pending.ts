/** Claiming due entries of the pending index by `lua/claim_pending-2.lua`. */
import type { RequestId, SkuKey } from '../../domain/ids.js';
import { unpackRecord } from './record-codec.js';
import type { StockConnection } from './stock-connection.js';
import type { ClaimReply, StockRecord } from './stock-port.js';

/**
 * One page. A claim whose answer is lost leases entries that nobody then works on; they come due again when the lease ends, which is why
 * a lease is short.
 */
export async function claimPending(connection: StockConnection, sku: SkuKey, leaseMs: number, limit: number): Promise<ClaimReply> {
  const keys = connection.keys(sku);
  const result = await connection.script('claim_pending', [keys.requests, keys.pending], [leaseMs, limit]);
  if (result.outcome !== 'done') {
    return { outcome: result.outcome, reason: result.reason, records: [], orphans: [], nowMs: 0, pendingCount: 0 };
  }
  const [, nowMs, pendingCount, ...flat] = result.value;
  const records: StockRecord[] = [];
  const orphans: RequestId[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const requestId = flat[index] ?? '';
    const record = unpackRecord(requestId, flat[index + 1] ?? '');
    if (record === null) orphans.push(requestId);
    else records.push(record);
  }
  return { outcome: 'done', reason: null, records, orphans, nowMs: Number(nowMs), pendingCount: Number(pendingCount) };
}
