/** Differences of the counters, which no single id explains. */
import type { Difference, IndexedLook } from './reconciliation-look.js';
import { holdsDurableUnit, unitIsFree } from './reconciliation-target.js';
import { ReservationStatus } from '../../domain/status-codes.js';

/**
 * Stock, held-back units and records that hold one must add up to the planned stock. All of it moves while the records are read, but a
 * reservation moves one unit from the stock to a record and leaves the sum alone; only returned units do not. The number of returned ones seen lies
 * between those of the first and of the last instant, so the two readings bound the error from both sides: without returns in between they
 * agree, and with some the part that is sure is the end nearer to zero.
 */
export function stockError(look: IndexedLook): number {
  const { before, after } = look.redis;
  if (before.stock === null || after.stock === null || before.epoch !== after.epoch) return 0;
  let returned = 0;
  for (const record of look.records.values()) if (record.unitReturned) returned += 1;
  const planned = look.durable.sku.plannedStock;
  const most = planned - before.stock - before.heldBack - before.records + returned;
  const least = planned - after.stock - after.heldBack - after.records + returned;
  if (least > 0) return least;
  return most < 0 ? most : 0;
}

export function counterDifferences(look: IndexedLook): readonly Difference[] {
  const found: Difference[] = [];
  const about = { requestId: null, reservationId: null, userId: null };
  const error = stockError(look);
  if (error !== 0) {
    found.push({
      kind: 'stock-counter-off', subject: 'stock', ...about,
      seen: `${String(Math.abs(error))} units too ${error > 0 ? 'few' : 'many'}`,
      repair: { act: 'adjust', change: { record: null, stockDelta: error, mark: null, pending: 'keep' } },
    });
  }
  // The rows come from one snapshot, so here nothing is on its way.
  const { plannedStock, available, allocated } = look.durable.sku;
  const out = look.durable.reservations.filter((row) => holdsDurableUnit(row) || (row.status === ReservationStatus.RELEASED && !unitIsFree(row))).length;
  if (available + allocated !== plannedStock || allocated !== out) {
    found.push({
      kind: 'inventory-counter-off', subject: 'inventory', ...about,
      seen: `planned ${String(plannedStock)}, available ${String(available)}, allocated ${String(allocated)}, reservations with a unit ${String(out)}`,
      repair: null,
    });
  }
  return found;
}
