// "Sold out" is believed only of somebody who can have seen all units taken.
import { expect, test } from 'vitest';

import type { Facts } from '../facts/facts.js';
import type { CommittedTransaction, RowChange } from '../facts/store-facts.js';
import { falseRefusals } from './false-refusals.js';

let commits = 0;
const commit = (...changes: RowChange[]): CommittedTransaction => ({ xid: (commits += 1), lsn: `0/${String(commits)}`, committedAtUs: commits, changes });
const reservation = (id: string, status: number, failure: string | null = null): RowChange => ({
  kind: 'insert', table: 'inventory_reservation', row: { reservation_id: id, status: String(status), order_id: status === 20 ? null : `1${id}`, failure_code: failure },
});
const held = (id: string): RowChange => reservation(id, 10);
const refused = (id: string, failure = 'REJECTED_NO_FINAL_STOCK'): RowChange => reservation(id, 20, failure);

function found(stock: number, transactions: readonly CommittedTransaction[], restockOnCancel = true): string[] {
  const facts = { run: { stock, rules: { restockOnCancel, rebuyAfterCancel: false } }, commitLog: { present: true, value: { transactions } } } as unknown as Facts;
  return falseRefusals(facts).map(({ reservationId }) => reservationId);
}

test('refused while a unit had never been taken by anybody', () => {
  expect(found(2, [commit(held('a')), commit(refused('b')), commit(held('c'))])).toEqual(['b']);
});

test.each<[string, CommittedTransaction[]]>([
  ['after the last unit was taken', [commit(held('a')), commit(held('b')), commit(refused('c'))]],
  ['in the very transaction that took the last one', [commit(held('a')), commit(held('b'), refused('c'))]],
  ['after a unit came back, since the refusal may have seen the moment before', [commit(held('a')), commit(held('b')), commit(reservation('a', 40)), commit(refused('c'))]],
  ['for another cause', [commit(refused('a', 'REJECTED_EXPIRED'))]],
])('nothing is said of a refusal %s', (_when, transactions) => {
  expect(found(2, transactions)).toEqual([]);
});

test('units that were withdrawn from sale are not free', () => {
  const withdrawn = [commit(held('a')), commit(reservation('a', 40)), commit(held('b')), commit(refused('c'))];
  expect(found(2, withdrawn, false)).toEqual([]);
  expect(found(2, withdrawn)).toEqual(['c']);
});
