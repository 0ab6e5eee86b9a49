/**
 * Reservations whose end nobody can tell (paper `000` §7.9): MANUAL_REQUIRED in PostgreSQL, their units held, never sent again, and never silent:
 * an error in the log when it happens, a gauge for as long as it lasts.
 */
import type { SkuKey } from '../../domain/ids.js';
import type { ClosedReservation, ReservationJudge } from '../ledger/ledger-port.js';
import type { RoleSurroundings } from '../role.js';
import type { StockRecord } from '../stock/stock-port.js';
import type { ScannerRecorders } from './scanner-metrics.js';

export interface HandOverTools {
  readonly judge: ReservationJudge;
  readonly recorders: ScannerRecorders;
  readonly surroundings: RoleSurroundings;
}

/** The gauge is read this often: cheap, but not each pass. */
const WATCH_INTERVAL_MS = 2_000;

/** A reservation of Redis as PostgreSQL wants it for its end. */
export function endingOf(sku: SkuKey, record: StockRecord): ClosedReservation {
  const { reservationId, requestId, messageId, userId, purchaseNo, reservedAtMs, expiresAtMs } = record;
  return { sku, reservationId, requestId, messageId, userId, purchaseNo, reservedAtMs, expiresAtMs };
}

/** False: PostgreSQL is away, and nothing more can be done now. A database that refuses even this is told of each time it is tried. */
export async function handOver({ judge, recorders, surroundings }: HandOverTools, sku: SkuKey, records: readonly StockRecord[]): Promise<boolean> {
  for (const record of records) {
    const reservation = endingOf(sku, record);
    const outcome = await judge.handOver(reservation);
    recorders.handedOver(outcome).add();
    if (outcome === 'unavailable') return false;
    // Another reservation owns its request, so no order can come of it: it can be closed for sure.
    if (outcome === 'request-taken' && (await judge.closeWithoutOrder(reservation)) === 'unavailable') return false;
    if (outcome === 'already-there') continue;
    const { reservationId, requestId, reservedAtMs } = record;
    surroundings.log('error', 'a reservation is past its recovery deadline; a human has to decide', { alert: 'MANUAL_REQUIRED', reservationId, requestId, reservedAtMs, outcome });
  }
  return true;
}

/** Shows how many wait; asks at most every two seconds. */
export function watchManual({ judge, recorders }: Pick<HandOverTools, 'judge' | 'recorders'>): () => Promise<void> {
  let nextMs = 0;
  return async () => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + WATCH_INTERVAL_MS;
    const manual = await judge.manual();
    if (manual === null) return;
    recorders.manualWaiting.set(manual.waiting);
    recorders.manualOldestSeconds.set(manual.oldestSeconds);
  };
}
