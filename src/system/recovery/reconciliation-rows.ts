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
  const text = look.redis.records.get(row.requestId);
  if (text === undefined) {
    const seen = `row ${String(row.status)} v${String(row.version)}, mark ${look.redis.users.get(row.userId) ?? 'none'}`;
    found.push(difference(row, hasEnded(row) ? 'ended-row-without-redis-record' : 'order-without-redis-record', seen, bringBack(look, row, null)));
  } else if (!look.records.has(row.requestId)) {
    found.push(difference(row, 'redis-record-damaged', text, bringBack(look, row, text)));
  }
  return found;
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
