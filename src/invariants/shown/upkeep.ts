/** What repairs and retention did, by the commit log and the tables. */
import type { Facts } from '../../facts/facts.js';
import type { RowChange } from '../../facts/store-facts.js';
import type { CountedFigure } from './shown-figure.js';

function changes(facts: Facts, table: string, kind: RowChange['kind']): number | null {
  if (!facts.commitLog.present) return null;
  return facts.commitLog.value.transactions.reduce((sum, transaction) => sum + transaction.changes.filter((change) => change.table === table && change.kind === kind).length, 0);
}

export const repairs: CountedFigure = {
  what: 'repairs of Redis planned and written down',
  count: (facts) => changes(facts, 'reconciliation_adjustment', 'insert'),
};

export const lossesExcused: CountedFigure = {
  what: 'reservations lost for good by the fault\'s own admission',
  count: (_facts, { excused }) => excused,
};

export const inboxRowsTrimmed: CountedFigure = {
  what: 'Inbox rows deleted by retention',
  count: (facts) => changes(facts, 'consumer_inbox', 'delete'),
};

export const eventsArchived: CountedFigure = {
  what: 'sent events moved into the archive',
  count: (facts) => (facts.postgres.present ? facts.postgres.value.outbox.filter((row) => row.archived).length : null),
};

export const callbacksArchived: CountedFigure = {
  what: 'callbacks of the channel moved into the archive',
  count: (facts) => changes(facts, 'payment_callback_archive', 'insert'),
};
