/** The scripts of the reconciler: `adjust_record` and the four of a rebuild. */
import assert from 'node:assert';

import type { RequestId, SkuKey, UserId } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import { rebuildKeys } from './keys.js';
import type { StockConnection } from './stock-connection.js';
import type { SkuMeta } from './stock-port.js';

/** One repair, planned against what was seen. Texts are packed records. */
export interface MirrorChange {
  readonly adjustmentId: string;
  readonly epoch: number;
  readonly kind: string;
  readonly record: { readonly requestId: RequestId; /** null: there was none. */ readonly seen: string | null; /** null: leave it. */ readonly becomes: string | null } | null;
  readonly stockDelta: number;
  readonly mark: { readonly userId: UserId; readonly seen: RequestId | null; /** null: take it away. */ readonly becomes: RequestId | null } | null;
  /** Of the pending index, for the request of `record`. */
  readonly pending: 'add' | 'remove' | 'keep';
}

/** `changed`: something moved since it was seen, and nothing was done. `other-epoch`: a rebuild came between. */
export type AdjustOutcome = 'applied' | 'already' | 'changed' | 'other-epoch' | 'paused';

const ADJUST_OUTCOMES: Readonly<Record<string, AdjustOutcome>> = { APPLIED: 'applied', ALREADY: 'already', CHANGED: 'changed', EPOCH: 'other-epoch', PAUSED: 'paused' };

export async function adjust(connection: StockConnection, sku: SkuKey, change: MirrorChange): Promise<CallResult<AdjustOutcome>> {
  const keys = connection.keys(sku);
  const { record, mark } = change;
  assert(Number.isSafeInteger(change.stockDelta), `not a delta: ${String(change.stockDelta)}`);
  assert(change.pending === 'keep' || record !== null, 'an entry of the index belongs to a request');
  const result = await connection.script(
    'adjust_record',
    [keys.stock, keys.meta, keys.requests, keys.users, keys.pending, keys.adjustments],
    [
      change.adjustmentId, change.epoch, change.kind,
      record?.requestId ?? '-', record === null ? '*' : (record.seen ?? '-'), record?.becomes ?? '-', change.stockDelta,
      mark?.userId ?? '-', mark?.seen ?? '-', mark?.becomes ?? '-', change.pending,
    ],
  );
  if (result.outcome !== 'done') return result;
  const outcome = ADJUST_OUTCOMES[result.value[0] ?? ''];
  assert(outcome !== undefined, `adjust_record answered ${result.value.join(' ')}`);
  return { outcome: 'done', value: outcome };
}

/** At most 500 of each; texts are packed records. */
export interface RebuildPage {
  readonly records: readonly (readonly [RequestId, string])[];
  readonly users: readonly (readonly [UserId, RequestId])[];
  readonly pending: readonly RequestId[];
}

export const REBUILD_PAGE_MAX = 500;

export async function rebuildBegin(connection: StockConnection, sku: SkuKey, token: number): Promise<CallResult<'paused' | 'fenced'>> {
  const keys = connection.keys(sku);
  const fresh = rebuildKeys(keys);
  const result = await connection.script('rebuild_begin', [keys.meta, fresh.requests, fresh.users, fresh.pending], [token]);
  return result.outcome === 'done' ? { outcome: 'done', value: result.value[0] === 'PAUSED' ? 'paused' : 'fenced' } : result;
}

export async function rebuildPage(connection: StockConnection, sku: SkuKey, token: number, page: RebuildPage): Promise<CallResult<'written' | 'fenced'>> {
  const keys = connection.keys(sku);
  const fresh = rebuildKeys(keys);
  const { records, users, pending } = page;
  const result = await connection.script(
    'rebuild_page',
    [keys.meta, fresh.requests, fresh.users, fresh.pending],
    [token, records.length, users.length, pending.length, ...records.flat(), ...users.flat(), ...pending],
  );
  return result.outcome === 'done' ? { outcome: 'done', value: result.value[0] === 'OK' ? 'written' : 'fenced' } : result;
}

/** Ends the pause with the epoch and the status in `meta`; done: the run id of the server that is now the known one, or `fenced`. */
export async function rebuildFinish(connection: StockConnection, sku: SkuKey, token: number, units: number, meta: SkuMeta): Promise<CallResult<{ readonly runId: string } | 'fenced'>> {
  const keys = connection.keys(sku);
  const fresh = rebuildKeys(keys);
  const { epoch, ...rest } = meta;
  const result = await connection.script(
    'rebuild_finish',
    [keys.stock, keys.meta, keys.requests, keys.users, keys.pending, keys.adjustments, fresh.requests, fresh.users, fresh.pending],
    [token, units, epoch, ...Object.entries(rest).flatMap(([field, value]) => [field, String(value)])],
  );
  if (result.outcome !== 'done') return result;
  return { outcome: 'done', value: result.value[0] === 'DONE' ? { runId: result.value[1] ?? '' } : 'fenced' };
}

export interface RebuildTotals {
  readonly released: number;
  readonly stillHeldBack: number;
}

export async function rebuildRelease(connection: StockConnection, sku: SkuKey, epoch: number, units: number): Promise<CallResult<RebuildTotals | 'other-epoch'>> {
  const keys = connection.keys(sku);
  const result = await connection.script('rebuild_release', [keys.stock, keys.meta], [units, epoch]);
  if (result.outcome !== 'done') return result;
  const [status, released, left] = result.value;
  return { outcome: 'done', value: status === 'OK' ? { released: Number(released), stillHeldBack: Number(left) } : 'other-epoch' };
}
