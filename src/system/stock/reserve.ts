/** Reserving: 1…64 requests of one SKU in one call of `lua/reserve_batch-5.lua`. */
import assert from 'node:assert';

import type { SkuKey } from '../../domain/ids.js';
import { ReserveCode } from '../../domain/reason-codes.js';
import type { EpochGuard, KnownEpoch } from './epoch-guard.js';
import { freshRecord, packRecord, unpackRecord } from './record-codec.js';
import type { StockConnection } from './stock-connection.js';
import type { ReserveDecision, ReserveReply, ReserveRequest, SoldOut, StockRecord } from './stock-port.js';
import { soldOutTurn } from './stock-view.js';

export const RESERVE_BATCH_MAX = 64;

export interface ReserveTimes {
  /** When the scanner may look at what is accepted. */
  readonly dueInMs: number;
  /** How long a gateway may answer "sold out" from memory; 0: none does. */
  readonly soldOutMarkMs: number;
}

/** Never presented by warm-up; makes the script say NOT_READY where nothing is warm. */
const NO_EPOCH: KnownEpoch = { epoch: '-', activityVersion: '0' };

/**
 * Decides the requests, in order. A server that is not the one that was warmed up, or one that is being rebuilt, gives PAUSED for all without
 * being asked to reserve.
 */
export async function reserve(connection: StockConnection, guard: EpochGuard, sku: SkuKey, requests: readonly ReserveRequest[], times: ReserveTimes): Promise<ReserveReply> {
  assert(requests.length >= 1 && requests.length <= RESERVE_BATCH_MAX, `a reserve call takes 1…64 requests, not ${String(requests.length)}`);
  let known = guard.known(sku);
  if (known === null) {
    const answer = await guard.learn(sku);
    if (answer.outcome === 'paused') return { outcome: 'done', decisions: requests.map(() => plain(ReserveCode.PAUSED)) };
    // Reading meta changes nothing, so whatever became of that read, these requests were surely not reserved.
    if (answer.outcome === 'surely-not-done' || answer.outcome === 'unknown') return { outcome: 'surely-not-done', reason: answer.reason };
    known = answer.outcome === 'known' ? answer.known : NO_EPOCH;
  }
  return call(connection, guard, sku, requests, known, times);
}

async function call(connection: StockConnection, guard: EpochGuard, sku: SkuKey, requests: readonly ReserveRequest[], known: KnownEpoch, { dueInMs, soldOutMarkMs }: ReserveTimes): Promise<ReserveReply> {
  const keys = connection.keys(sku);
  let heads = '';
  let records = '';
  // Pushed one by one, here and below: `map` makes arrays of two kinds, by how far it is compiled, and code that has seen one kind is thrown away for the other.
  const fresh: StockRecord[] = [];
  for (const request of requests) {
    const record = freshRecord(request, known.activityVersion);
    fresh.push(record);
    const packed = packRecord(record);
    heads += `${record.requestId} ${record.userId} ${String(packed.length)} `;
    records += packed;
  }
  connection.asksAbout(requests.length);
  const result = await connection.script(
    'reserve_batch',
    [keys.stock, keys.meta, keys.requests, keys.users, keys.pending],
    [known.epoch, known.activityVersion, dueInMs, requests.length, heads, records, soldOutMarkMs],
  );
  if (result.outcome !== 'done') return result;
  const [status, ...texts] = result.value;
  assert(texts.length === requests.length, 'reserve_batch answered another number of decisions');
  if (status !== 'OK') guard.forget(sku);
  const decisions: ReserveDecision[] = [];
  for (let index = 0; index < texts.length; index += 1) decisions.push(decisionOf(texts[index] ?? '', fresh[index], known));
  return { outcome: 'done', decisions };
}

/** `fresh`: what is stored when the request is accepted. */
function decisionOf(text: string, fresh: StockRecord | undefined, { epoch }: KnownEpoch): ReserveDecision {
  assert(fresh !== undefined, 'a decision without request');
  const [code, left, requestId, record, accepted] = text.split(' ');
  if (code === undefined || !isReserveCode(code)) assert.fail(`not a reserve code: ${text}`);
  const stockLeft = left === undefined ? null : Number(left);
  // The script does not echo what it has just stored.
  if (code === ReserveCode.RESERVED) return { code, stockLeft, record: fresh, epoch };
  if (code === ReserveCode.SOLD_OUT) return { code, stockLeft, record: null, soldOut: soldOutOf(epoch, requestId, record, accepted) };
  const stored = requestId === undefined || record === undefined ? null : unpackRecord(requestId, record);
  return { code, stockLeft, record: stored, epoch };
}

/** `n waitMs accepted` of a SOLD_OUT, where marks are kept. */
function soldOutOf(epoch: string, turn: string | undefined, waitMs: string | undefined, accepted: string | undefined): SoldOut | null {
  if (turn === undefined || waitMs === undefined || accepted === undefined) return null;
  return { turn: soldOutTurn(epoch, turn), reopensInMs: Number(waitMs), acceptedCount: Number(accepted) };
}

function plain(code: ReserveCode): ReserveDecision {
  return { code, record: null, stockLeft: null };
}

function isReserveCode(text: string): text is ReserveCode {
  return Object.hasOwn(ReserveCode, text);
}
