/** Differences of one record in Redis: against its row in PostgreSQL, its message, its entry in the index and its user's mark. */
import { RedisRecordState } from '../../domain/status-codes.js';
import { packRecord } from '../stock/record-codec.js';
import type { StockRecord } from '../stock/stock-port.js';
import { isOnItsWay, isYoung, type Difference, type IndexedLook, type Repair } from './reconciliation-look.js';
import type { DurableReservation } from './reconciliation-ledgers.js';
import { keepsMark, recordOfRow } from './reconciliation-target.js';

const isOpen = ({ state }: StockRecord): boolean => state === RedisRecordState.PENDING || state === RedisRecordState.SENT;

export function differencesOfRecord(look: IndexedLook, record: StockRecord): readonly Difference[] {
  if (isYoung(look, record.reservedAtMs)) return [];
  const row = look.rowsByReservation.get(record.reservationId);
  const ofRequest = look.rowsByRequest.get(record.requestId);
  if (row !== undefined) {
    const difference = againstRow(look, record, row);
    if (difference !== null) return [difference];
    if (!isOnItsWay(look, row) && !keepsMark(row, look.durable.sku)) return markLeft(look, record);
  } else if (ofRequest !== undefined) {
    // While it is open, the consumer will refuse it; only then it hides the reservation that counts.
    return isOpen(record) ? [] : [anotherReservation(look, record, ofRequest)];
  } else if (record.state === RedisRecordState.ORDERED) {
    return [orderWithoutRow(look, record)];
  } else if (isOpen(record) && !look.redis.pending.has(record.requestId)) {
    return [notInIndex(look, record)];
  }
  return markMissing(look, record);
}

function againstRow(look: IndexedLook, record: StockRecord, row: DurableReservation): Difference | null {
  // Redis was read first, so PostgreSQL cannot be behind; a newer version here is a row that changed back, which is not for Redis to mend.
  if (record.appliedVersion > row.version || isOnItsWay(look, row)) return null;
  const target = recordOfRow(row, look.durable.sku, record);
  if (target.unitReturned !== record.unitReturned) {
    const kind = target.unitReturned ? 'released-in-pg-held-in-redis' : 'held-in-pg-returned-in-redis';
    return difference(kind, record, `${record.state}${unitWord(record)}, row ${String(row.status)} v${String(row.version)}`, change(look, record, target, row));
  }
  const behind = isOpen(target) ? !isOpen(record) : target.state !== record.state || target.orderId !== record.orderId;
  if (behind) return difference('redis-state-behind', record, `${record.state} v${String(record.appliedVersion)}, row ${String(row.status)} v${String(row.version)}`, change(look, record, target, row));
  if (isOpen(record) && !look.redis.pending.has(record.requestId)) return notInIndex(look, record);
  return null;
}

function anotherReservation(look: IndexedLook, record: StockRecord, row: DurableReservation): Difference {
  const target = recordOfRow(row, look.durable.sku);
  return difference('redis-record-of-another-reservation', record, `${record.state} of ${record.reservationId}, row of ${row.reservationId}`, change(look, record, target, row));
}

/** PostgreSQL is the truth: the record goes back to the beginning, and the scanner has its message sent again. */
function orderWithoutRow(look: IndexedLook, record: StockRecord): Difference {
  const target: StockRecord = { ...record, state: RedisRecordState.PENDING, orderId: null, reason: null, appliedVersion: 0, unitReturned: false };
  const repair: Repair = {
    act: 'adjust',
    change: { record: swap(look, record, target), stockDelta: record.unitReturned ? -1 : 0, mark: null, pending: 'add' },
  };
  return difference('redis-order-without-row', record, `O ${record.orderId ?? ''}`, repair);
}

function notInIndex(look: IndexedLook, record: StockRecord): Difference {
  const hasMessage = look.topic.messages.has(record.reservationId);
  return difference(hasMessage ? 'pending-entry-missing' : 'redis-record-without-message', record, `${record.state} not in the index`, {
    act: 'adjust',
    change: { record: { requestId: record.requestId, seen: look.redis.records.get(record.requestId) ?? null, becomes: null }, stockDelta: 0, mark: null, pending: 'add' },
  });
}

/** A mark that leads to another record of the same user is that record's. */
function markMissing(look: IndexedLook, record: StockRecord): readonly Difference[] {
  if (record.unitReturned) return [];
  const seen = look.redis.users.get(record.userId) ?? null;
  if (seen !== null && look.redis.records.has(seen)) return [];
  const row = look.rowsByReservation.get(record.reservationId);
  if (row !== undefined && !keepsMark(row, look.durable.sku)) return [];
  return [difference('user-mark-missing', record, `mark ${seen ?? 'none'}`, {
    act: 'adjust',
    change: {
      record: { requestId: record.requestId, seen: look.redis.records.get(record.requestId) ?? null, becomes: null },
      stockDelta: 0, mark: { userId: record.userId, seen, becomes: record.requestId }, pending: 'keep',
    },
  })];
}

/** A mark that names another request of the same user is that one's. */
function markLeft(look: IndexedLook, record: StockRecord): readonly Difference[] {
  const { requestId, userId } = record;
  if (look.redis.users.get(userId) !== requestId) return [];
  return [difference('user-mark-left', record, `mark ${requestId}`, {
    act: 'adjust',
    change: { record: { requestId, seen: look.redis.records.get(requestId) ?? null, becomes: null }, stockDelta: 0, mark: { userId, seen: requestId, becomes: null }, pending: 'keep' },
  })];
}

/** The record becomes the target; unit, mark and index follow. */
function change(look: IndexedLook, record: StockRecord, target: StockRecord, row: DurableReservation): Repair {
  const stockDelta = Number(target.unitReturned) - Number(record.unitReturned);
  return { act: 'adjust', change: { record: swap(look, record, target), stockDelta, mark: markOf(look, row), pending: isOpen(target) ? 'add' : 'remove' } };
}

/** What a row's repair does to its user's mark: sets it where nobody else holds it, takes it away where it is its own. */
export function markOf(look: IndexedLook, row: DurableReservation): { userId: string; seen: string | null; becomes: string | null } | null {
  const seen = look.redis.users.get(row.userId) ?? null;
  const { requestId, userId } = row;
  if (!keepsMark(row, look.durable.sku)) return seen === requestId ? { userId, seen, becomes: null } : null;
  return seen === null || !look.redis.records.has(seen) ? { userId, seen, becomes: requestId } : null;
}

function swap(look: IndexedLook, record: StockRecord, target: StockRecord): { requestId: string; seen: string | null; becomes: string } {
  return { requestId: record.requestId, seen: look.redis.records.get(record.requestId) ?? null, becomes: packRecord(target) };
}

function difference(kind: Difference['kind'], record: StockRecord, seen: string, repair: Repair): Difference {
  const { requestId, reservationId, userId } = record;
  return { kind, subject: requestId, requestId, reservationId, userId, seen, repair };
}

function unitWord(record: StockRecord): string {
  return record.unitReturned ? ' returned' : ' held';
}
