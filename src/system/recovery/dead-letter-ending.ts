/**
 * What becomes of the reservation of a dead letter, by the cause of its death (paper `000` §7.4). Only a reservation that Redis knows under these
 * very ids is ended, with what Redis knows of it: a dead letter alone proves nothing, least of all one that could not be read.
 */
import { DeadLetterCause, type DeadLetter } from '../../domain/dead-letter.js';
import type { Namespace } from '../../domain/namespace.js';
import type { RequestId, SkuKey } from '../../domain/ids.js';
import type { ClosedReservation } from '../ledger/ledger-port.js';
import type { StockRecord } from '../stock/stock-port.js';
import { endingOf } from './manual-hand-over.js';

/** malformed: nobody can read it. refusable: the database refuses it, so refusing the buyer is right. unknown: a human has to look. */
export type DeadLetterClass = 'malformed' | 'refusable' | 'unknown';

export const CLASS_OF: Readonly<Record<DeadLetterCause, DeadLetterClass>> = {
  [DeadLetterCause.MALFORMED]: 'malformed',
  [DeadLetterCause.REFUSED]: 'refusable',
  [DeadLetterCause.ANOMALY]: 'unknown',
};

/** close: durably without an order, its unit goes back. hand-over: MANUAL_REQUIRED, its unit stays held. */
export interface Ending {
  readonly how: 'close' | 'hand-over';
  readonly reservation: ClosedReservation;
}

/** Where to look for the reservation of a letter; null: it is about none, or does not say about which. */
export function reservationOf(letter: DeadLetter, namespace: Namespace): { readonly sku: SkuKey; readonly requestId: RequestId } | null {
  const { reservationId, requestId, activityId, skuId } = letter;
  // Events are about reservations that have ended already.
  if (letter.originTopic !== namespace.ordersTopic) return null;
  if (reservationId === null || requestId === null || activityId === null || skuId === null) return null;
  return { sku: { activityId, skuId }, requestId };
}

/** null: there is nothing to end. `record`: what Redis holds under the letter's request id. */
export function endingFor(letter: DeadLetter, sku: SkuKey, record: StockRecord | null): Ending | null {
  if (record?.reservationId !== letter.reservationId) return null;
  return { how: CLASS_OF[letter.cause] === 'unknown' ? 'hand-over' : 'close', reservation: endingOf(sku, record) };
}
