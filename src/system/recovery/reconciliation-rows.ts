/** Differences of one reservation row in PostgreSQL: the record that Redis should have, and the message that it came from. */
import { ReservationStatus } from '../../domain/status-codes.js';
import { packRecord } from '../stock/record-codec.js';
import { isOnItsWay, type Difference, type IndexedLook, type Repair } from './reconciliation-look.js';
import type { DurableReservation } from './reconciliation-ledgers.js';
import { hasEnded, recordOfRow } from './reconciliation-target.js';
import { markOf } from './reconciliation-records.js';

export function differencesOfRow(look: IndexedLook, row: DurableReservation): readonly Difference[] {
  if (isOnItsWay(look, row)) return [];
  const found: Difference[] = [];
  if (cameByMessage(row) && look.topic.isWhole && !look.topic.messages.has(row.reservationId)) {
    found.push(difference(row, 'row-without-message', `row ${String(row.status)}`, null));
  }
  const disagreement = disagreementAbout(look, row);
  if (disagreement !== null) found.push(difference(row, 'ids-disagree', disagreement, null));
  const text = look.redis.records.get(row.requestId);
  if (text === undefined) {
    const seen = `row ${String(row.status)} v${String(row.version)}, mark ${look.redis.users.get(row.userId) ?? 'none'}`;
    found.push(difference(row, hasEnded(row) ? 'ended-row-without-redis-record' : 'order-without-redis-record', seen, bringBack(look, row, null)));
  } else if (!look.records.has(row.requestId)) {
    found.push(difference(row, 'redis-record-damaged', text, bringBack(look, row, text)));
  }
  return found;
}

/** The ids that one reservation goes by have to be the same in all three ledgers: where they are not, equal states and sums prove nothing. */
function disagreementAbout(look: IndexedLook, row: DurableReservation): string | null {
  const record = look.records.get(row.requestId);
  const message = look.topic.messages.get(row.reservationId)?.message;
  const wrong = [
    ...(record?.reservationId === row.reservationId ? otherIds('Redis', record, row) : []),
    ...(message === undefined ? [] : otherIds('the topic', message, row)),
  ];
  return wrong.length === 0 ? null : wrong.join('; ');
}

function otherIds(where: string, seen: Pick<DurableReservation, 'requestId' | 'userId' | 'messageId'>, row: DurableReservation): readonly string[] {
  return (['requestId', 'userId', 'messageId'] as const).flatMap((id) => (seen[id] === row[id] ? [] : [`${where} has ${id} ${seen[id]}, PostgreSQL ${row[id]}`]));
}

/** A reservation that was closed without an order may never have had a message. */
function cameByMessage(row: DurableReservation): boolean {
  return row.status !== ReservationStatus.EXPIRED && row.status !== ReservationStatus.MANUAL_REQUIRED;
}

/**
 * A record that Redis lost, with its unit taken out of the stock again: losing both in one failover left the sum right. A damaged one still counts
 * as one that holds its unit. The stock may fall below zero then, which is a debt that later refusals pay.
 */
function bringBack(look: IndexedLook, row: DurableReservation, text: string | null): Repair {
  const target = recordOfRow(row, look.durable.sku);
  const held = text !== null;
  const holds = !target.unitReturned;
  return {
    act: 'adjust',
    change: {
      record: { requestId: row.requestId, seen: text, becomes: packRecord(target) },
      stockDelta: Number(held) - Number(holds),
      mark: markOf(look, row),
      pending: hasEnded(row) || row.orderId !== null ? 'remove' : 'add',
    },
  };
}

function difference(row: DurableReservation, kind: Difference['kind'], seen: string, repair: Repair | null): Difference {
  const { requestId, reservationId, userId } = row;
  return { kind, subject: requestId, requestId, reservationId, userId, seen, repair };
}
