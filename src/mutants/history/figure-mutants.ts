/** Figures that are off by one, and by more: stock, accounts, deltas, money, versions. */
import { anyOf, type Draft, type HistoryMutant, type Random } from './history-mutant.js';

const OFF_BY = [1, 2, 10] as const;

function shifted(name: string, description: string, pick: (draft: Draft, random: Random) => { readonly row: object; readonly field: string } | null): HistoryMutant[] {
  return ([1, -1] as const).map((sign) => ({
    name: `${name}-${sign > 0 ? 'up' : 'down'}`, description: `${description} is ${sign > 0 ? 'higher' : 'lower'} than it was.`, unit: 'units', magnitudes: OFF_BY, equivalent: null,
    apply(draft, random, magnitude) {
      const found = pick(draft, random);
      if (found === null) return false;
      const row = found.row as Record<string, unknown>;
      const value = row[found.field];
      if (typeof value === 'number') row[found.field] = value + sign * magnitude;
      else if (typeof value === 'string' && /^-?[0-9]+$/.test(value)) row[found.field] = String(BigInt(value) + BigInt(sign * magnitude));
      else return false;
      return true;
    },
  }));
}

const ofRow = (rows: (draft: Draft) => readonly object[], field: string, wanted: (row: Record<string, unknown>) => boolean = () => true) => (draft: Draft, random: Random) => {
  const row = anyOf(rows(draft).filter((item) => wanted(item as Record<string, unknown>)), random);
  return row === null ? null : { row, field };
};

export const FIGURE_MUTANTS: readonly HistoryMutant[] = [
  ...shifted('redis-stock', 'The stock in Redis', (draft) => ({ row: draft.redis, field: 'stock' })),
  ...shifted('ledger-available-delta', 'What a ledger entry moved', ofRow((draft) => draft.postgres.ledger, 'availableDelta')),
  ...shifted('ledger-allocated-delta', 'What a ledger entry allocated', ofRow((draft) => draft.postgres.ledger, 'allocatedDelta')),
  ...shifted('ledger-before', 'The balance before a ledger entry', ofRow((draft) => draft.postgres.ledger, 'beforeAvailable')),
  ...shifted('ledger-after', 'The balance after a ledger entry', ofRow((draft) => draft.postgres.ledger, 'afterAvailable')),
  ...shifted('inventory-total', 'The total of an account', ofRow((draft) => draft.postgres.inventory, 'total')),
  ...shifted('paid-amount', 'The amount of a payment', ofRow((draft) => draft.postgres.payments, 'amount', (row) => row['status'] !== 0)),
  ...shifted('committed-offset', 'The committed offset of a partition', ofRow((draft) => draft.kafka.ordersBounds, 'committedOffset', (row) => row['committedOffset'] !== null)),
  ...shifted('topic-end', 'The end of a partition', ofRow((draft) => draft.kafka.ordersBounds, 'endOffset', (row) => Number(row['endOffset']) > 0)),
  ...shifted('purchase-number', 'The number of a purchase', ofRow((draft) => draft.postgres.orders, 'purchaseNo')),
];
