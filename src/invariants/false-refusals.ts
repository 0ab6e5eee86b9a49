/**
 * Refusals for want of stock at a time when there was stock. A unit that such a refusal sends back may be sold later, so that the end looks right; its first
 * buyer was told a thing that was not so (paper `001` §16, error 10; CASES C29).
 *
 * Whoever refuses has seen PostgreSQL as it was after some earlier commit, with what its own transaction has taken. So if at no commit up to its own all units
 * were taken, it cannot have seen that.
 */
import { OrderResult } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import type { CommittedTransaction } from '../facts/store-facts.js';
import { replayUnits } from './units-replay.js';

export interface FalseRefusal {
  readonly reservationId: string;
  /** Most units that had been taken at any commit up to this one. */
  readonly takenMost: number;
}

/** In commit order. Empty without a commit log. */
export function falseRefusals(facts: Facts): readonly FalseRefusal[] {
  const found: FalseRefusal[] = [];
  let takenMost = 0;
  replayUnits(facts, (units, transaction) => {
    // Withdrawn units are off sale without being held.
    const withdrawn = facts.run.rules.restockOnCancel ? 0 : units.released.size;
    takenMost = Math.max(takenMost, Math.max(units.held.size, units.takenTokens.size) + withdrawn);
    if (takenMost >= facts.run.stock) return;
    for (const reservationId of refusedForStock(transaction)) found.push({ reservationId, takenMost });
  });
  return found;
}

function refusedForStock({ changes }: CommittedTransaction): readonly string[] {
  return [...new Set(changes.flatMap(({ table, kind, row }) =>
    table === 'inventory_reservation' && kind !== 'delete' && row['failure_code'] === OrderResult.REJECTED_NO_FINAL_STOCK ? [row['reservation_id'] ?? ''] : []))];
}
