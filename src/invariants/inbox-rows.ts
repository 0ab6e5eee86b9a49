/**
 * Inbox rows as they count: those of the snapshot, and those that retention has deleted since. The commit log knows every row that was ever there, so a row that is
 * gone is no less evidence than one that is left; one that went before its time was never allowed to go, and counts as missing.
 */
import type { Facts } from '../facts/facts.js';
import type { InboxRow, RowChange } from '../facts/store-facts.js';
import { columnOf } from './commit-history.js';
import { grouped, postgresOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';

export interface DeletedInboxRow {
  readonly row: InboxRow;
  readonly ageMs: number;
}

const keyOf = (change: RowChange): string => `${columnOf(change, 'consumer_group')} ${columnOf(change, 'message_id')}`;

/** Every Inbox row that was deleted, with its age then; in the order in which they went. */
export const deletedInboxRows: (facts: Facts) => readonly DeletedInboxRow[] = rememberedPerFacts((facts) => {
  const written = new Map<string, RowChange['row']>();
  const deleted: DeletedInboxRow[] = [];
  if (!facts.commitLog.present) return deleted;
  for (const { changes, committedAtUs } of facts.commitLog.value.transactions) {
    for (const change of changes) {
      if (change.table !== 'consumer_inbox') continue;
      const key = keyOf(change);
      if (change.kind !== 'delete') {
        written.set(key, { ...written.get(key), ...change.row });
        continue;
      }
      const row = written.get(key);
      if (row === undefined) continue;
      written.delete(key);
      deleted.push({ row: inboxRowOf(row), ageMs: committedAtUs / 1_000 - wallMsOf(row['processed_at'] ?? '') });
    }
  }
  return deleted;
});

/** Rows whose time to go had come are as good as there. */
export const inboxRows: (facts: Facts) => readonly InboxRow[] = rememberedPerFacts((facts) => {
  const { inboxRetentionMs } = facts.run;
  const rows = postgresOf(facts).inbox;
  if (inboxRetentionMs === null) return rows;
  return [...rows, ...deletedInboxRows(facts).flatMap(({ row, ageMs }) => (ageMs >= inboxRetentionMs ? [row] : []))];
});

export const inboxByReservation: (facts: Facts) => ReadonlyMap<string, readonly InboxRow[]> = rememberedPerFacts((facts) =>
  grouped(inboxRows(facts).filter((row) => row.consumerGroup === facts.run.namespace.ordersGroup), (row) => row.reservationId));

function inboxRowOf(row: RowChange['row']): InboxRow {
  const text = (column: string): string => row[column] ?? '';
  return {
    consumerGroup: text('consumer_group'), messageId: text('message_id'), reservationId: text('reservation_id'), resultCode: text('result_code'), orderId: row['order_id'] ?? null,
  };
}

/** `2026-01-02 03:04:05.678901+00`, as PostgreSQL prints it with its time zone UTC. NaN when it is none: such a row is as old as nothing. */
function wallMsOf(text: string): number {
  return Date.parse(`${text.replace(' ', 'T')}:00`);
}
