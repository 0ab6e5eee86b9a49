/** Reads of the stock: one record, the meta of a SKU, and pages of all records. No script: each is one command. */
import type { RequestId, SkuKey } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import { unpackRecord } from './record-codec.js';
import type { StockConnection } from './stock-connection.js';
import type { LookupReply, SkuMeta, StockRecord } from './stock-port.js';

const META_FIELDS = ['activityVersion', 'startAtMs', 'endAtMs', 'unitPrice', 'currency', 'status', 'epoch', 'runId'] as const;

/** Meta of a SKU with the run id of the server that was warmed up. */
export interface WarmedMeta extends SkuMeta {
  readonly runId: string;
}

/** One record. A damaged record is `unknown`, never "nothing there". */
export async function lookup(connection: StockConnection, sku: SkuKey, requestId: RequestId): Promise<LookupReply> {
  const { requests } = connection.keys(sku);
  const result = await connection.command('lookup', () => connection.redis.hget(requests, requestId));
  if (result.outcome !== 'done') return result;
  if (result.value === null) return { outcome: 'done', record: null };
  const record = unpackRecord(requestId, result.value);
  if (record === null) return { outcome: 'unknown', reason: `the record of ${requestId} is damaged` };
  return { outcome: 'done', record };
}

/** Meta as warm-up wrote it; null when the key or a field is missing. */
export async function readMeta(connection: StockConnection, sku: SkuKey): Promise<CallResult<WarmedMeta | null>> {
  const { meta } = connection.keys(sku);
  const result = await connection.command('meta', () => connection.redis.hmget(meta, ...META_FIELDS));
  if (result.outcome !== 'done') return result;
  const [activityVersion, startAtMs, endAtMs, unitPrice, currency, status, epoch, runId] = result.value;
  const complete =
    activityVersion != null && startAtMs != null && endAtMs != null && unitPrice != null && currency != null && status != null &&
    epoch != null && runId != null;
  if (!complete) return { outcome: 'done', value: null };
  return {
    outcome: 'done',
    value: { activityVersion, startAtMs: Number(startAtMs), endAtMs: Number(endAtMs), unitPrice, currency, status, epoch, runId },
  };
}

export interface RecordPage {
  readonly records: readonly StockRecord[];
  /** Request ids whose value could not be read. */
  readonly damaged: readonly RequestId[];
  /** Cursor of the next page; `0`: this was the last one. */
  readonly nextCursor: string;
}

/** One page of all records (HSCAN: a record may come twice, one there from the first to the last page comes at least once). */
export async function scanRecords(connection: StockConnection, sku: SkuKey, cursor: string, count: number): Promise<CallResult<RecordPage>> {
  const { requests } = connection.keys(sku);
  const result = await connection.command('scan-records', () => connection.redis.hscan(requests, cursor, 'COUNT', count));
  if (result.outcome !== 'done') return result;
  const [nextCursor, flat] = result.value;
  const records: StockRecord[] = [];
  const damaged: RequestId[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const requestId = flat[index] ?? '';
    const record = unpackRecord(requestId, flat[index + 1] ?? '');
    if (record === null) damaged.push(requestId);
    else records.push(record);
  }
  return { outcome: 'done', value: { records, damaged, nextCursor } };
}
