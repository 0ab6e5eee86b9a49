/** A look with its indexes, and what a difference in it is. */
import type { DifferenceKind } from '../../domain/reconciliation.js';
import type { RequestId, ReservationId, UserId } from '../../domain/ids.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { MirrorChange } from '../stock/mirror-scripts.js';
import { unpackRecord } from '../stock/record-codec.js';
import type { StockRecord } from '../stock/stock-port.js';
import type { DurableReservation, Look } from './reconciliation-ledgers.js';

/** What mends a difference: a change of Redis, or the same message once more. null: a human has to look. */
export type Repair =
  | { readonly act: 'adjust'; readonly change: Omit<MirrorChange, 'adjustmentId' | 'epoch' | 'kind'> }
  | { readonly act: 'resend'; readonly message: OrderMessage };

export interface Difference {
  readonly kind: DifferenceKind;
  /** What it is about; with the kind unique in a look: a request id, a user id, or the name of a counter. */
  readonly subject: string;
  readonly requestId: RequestId | null;
  readonly reservationId: ReservationId | null;
  readonly userId: UserId | null;
  /** All that was seen of it; a second look has to see the same. */
  readonly seen: string;
  readonly repair: Repair | null;
}

/** A look with its indexes. */
export interface IndexedLook extends Look {
  readonly graceMs: number;
  readonly nowMs: number;
  readonly records: ReadonlyMap<RequestId, StockRecord>;
  readonly rowsByReservation: ReadonlyMap<ReservationId, DurableReservation>;
  readonly rowsByRequest: ReadonlyMap<RequestId, DurableReservation>;
}

export function indexLook(look: Look, graceMs: number): IndexedLook {
  const records = new Map<RequestId, StockRecord>();
  for (const [requestId, text] of look.redis.records) {
    const record = unpackRecord(requestId, text);
    if (record !== null) records.set(requestId, record);
  }
  const { reservations } = look.durable;
  return {
    ...look, graceMs, records,
    // By the clock that also wrote the index; gateways stamp `reservedAtMs`, and the grace is longer than their clocks may differ.
    nowMs: look.redis.before.nowMs,
    rowsByReservation: new Map(reservations.map((row) => [row.reservationId, row])),
    rowsByRequest: new Map(reservations.map((row) => [row.requestId, row])),
  };
}

/** What happened less than the grace ago may still be on its way. */
export function isYoung(look: IndexedLook, happenedAtMs: number): boolean {
  return look.nowMs - happenedAtMs < look.graceMs;
}

/** The row changed just now, or the event that tells Redis of it has not left yet. */
export function isOnItsWay(look: IndexedLook, row: DurableReservation): boolean {
  return row.hasUnsentEvent || isYoung(look, row.changedAtMs) || isYoung(look, row.reservedAtMs);
}
