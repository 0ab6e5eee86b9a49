/**
 * What Redis has to hold after a rebuild, from durable facts (paper `004` §11, §12): every reservation of PostgreSQL, the messages that are in the
 * topic and not worked off, and what survived in Redis itself. Pure.
 *
 * PostgreSQL wins over both others; the rest may only add reservations that are still on their way, and each of them keeps one unit back. So
 * nobody who has an order can buy a second time, and no unit that is promised is sold again.
 */
import type { RequestId, UserId } from '../../domain/ids.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { RedisRecordState } from '../../domain/status-codes.js';
import type { StockRecord } from '../stock/stock-port.js';
import type { DurableLedger, DurableReservation } from './reconciliation-ledgers.js';
import { hasEnded, holdsDurableUnit, keepsMark, recordOfMessage, recordOfRow } from './reconciliation-target.js';

export interface RebuildPlan {
  readonly records: ReadonlyMap<RequestId, StockRecord>;
  readonly users: ReadonlyMap<UserId, RequestId>;
  readonly pending: readonly RequestId[];
  /** Units that may be sold: what PostgreSQL has available, less one for each reservation that is on its way to it. */
  readonly units: number;
  /** Reservations that are on their way. */
  readonly inFlight: number;
}

export interface RebuildSources {
  readonly durable: DurableLedger;
  /** Messages that PostgreSQL has neither a reservation nor an Inbox row for. */
  readonly unfinished: readonly OrderMessage[];
  /** What this Redis still holds. */
  readonly survivors: readonly StockRecord[];
}

export function planRebuild({ durable, unfinished, survivors }: RebuildSources): RebuildPlan {
  const draft = new Draft();
  const survivorOf = new Map(survivors.map((record) => [record.reservationId, record]));
  for (const row of endedFirst(durable.reservations)) {
    const onItsWay = !hasEnded(row) && !holdsDurableUnit(row);
    draft.add(recordOfRow(row, durable.sku, survivorOf.get(row.reservationId) ?? null), { onItsWay, marks: keepsMark(row, durable.sku) ? 'always' : 'never' });
  }
  for (const message of unfinished) if (!draft.records.has(message.requestId)) draft.add(recordOfMessage(message), { onItsWay: true, marks: 'if-free' });
  for (const record of survivors) if (!draft.records.has(record.requestId)) addSurvivor(draft, record);
  return { records: draft.records, users: draft.users, pending: draft.pending, inFlight: draft.inFlight, units: Math.max(0, durable.sku.available - draft.inFlight) };
}

class Draft {
  readonly records = new Map<RequestId, StockRecord>();
  readonly users = new Map<UserId, RequestId>();
  readonly pending: RequestId[] = [];
  inFlight = 0;

  add(record: StockRecord, { onItsWay, marks }: { readonly onItsWay: boolean; readonly marks: 'always' | 'if-free' | 'never' }): void {
    this.records.set(record.requestId, record);
    if (marks === 'always' || (marks === 'if-free' && !this.users.has(record.userId))) this.users.set(record.userId, record.requestId);
    if (!onItsWay) return;
    this.inFlight += 1;
    if (record.state === RedisRecordState.PENDING || record.state === RedisRecordState.SENT) this.pending.push(record.requestId);
  }
}

/** A survivor without a row. Its message may never have been sent: the scanner finds it in the index and sees to it. */
function addSurvivor(draft: Draft, record: StockRecord): void {
  if (record.state === RedisRecordState.REJECTED || record.state === RedisRecordState.RELEASED) {
    // Refused as a duplicate of a request; where its unit is not back yet, the event that brings it is still to come.
    draft.add(record, { onItsWay: !record.unitReturned, marks: 'never' });
    return;
  }
  // "Ordered" without an order is no fact: back to the beginning.
  const open = record.state === RedisRecordState.ORDERED ? { ...record, state: RedisRecordState.PENDING, orderId: null, reason: null, appliedVersion: 0, unitReturned: false } : record;
  draft.add(open, { onItsWay: true, marks: 'if-free' });
}

/** A later purchase of the same user holds the mark, whatever order the ids come in. */
function endedFirst(rows: readonly DurableReservation[]): readonly DurableReservation[] {
  return [...rows.filter(hasEnded), ...rows.filter((row) => !hasEnded(row))];
}
