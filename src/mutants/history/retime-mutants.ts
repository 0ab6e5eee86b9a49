/** Things at another time than the one they happened at, by the least that can be told: rows, commits, records and messages, each against a witness of its own. */
import { anyOf, type Draft, type HistoryMutant, type Random } from './history-mutant.js';

const OFF_BY_US = [1, 1_000, 1_000_000] as const;
const OFF_BY_MS = [1, 1_000] as const;

function retimed(name: string, description: string, unit: string, magnitudes: readonly number[], apply: HistoryMutant['apply']): HistoryMutant {
  return { name, description, unit, magnitudes, equivalent: null, apply };
}

/** Either way. */
function off(random: Random, by: number): number {
  return random() < 0.5 ? by : -by;
}

function rowCommitted(rows: (draft: Draft) => { committedAtUs: number | null }[]): HistoryMutant['apply'] {
  return (draft, random, magnitude) => {
    const row = anyOf(rows(draft).filter(({ committedAtUs }) => committedAtUs !== null), random);
    if (row === null) return false;
    row.committedAtUs = (row.committedAtUs ?? 0) + off(random, magnitude);
    return true;
  };
}

type Commit = Draft['commitLog']['transactions'][number];
type Change = Commit['changes'][number];

/** What a change says to be the row of; null: it has no state that anybody follows. */
function followed({ table, row }: Change): string | null {
  const key = table === 'orders' ? row['order_id'] : table === 'inventory_reservation' ? row['reservation_id'] : undefined;
  return key === undefined || key === null ? null : `${table} ${key}`;
}

/** The last commit of an order or a reservation, and one that moved such a unit besides: its token and its ledger entry are in the same one. */
function lastCommits(draft: Draft, alsoOf: string): readonly Commit[] {
  const last = new Map<string, Commit>();
  for (const commit of draft.commitLog.transactions) {
    for (const change of commit.changes) {
      const row = followed(change);
      if (row !== null && change.kind !== 'delete') last.set(row, commit);
    }
  }
  return [...new Set(last.values())].filter(({ changes }) => changes.some(({ table }) => table === alsoOf));
}

function commitOf(table: string): HistoryMutant['apply'] {
  return (draft, random, magnitude) => {
    const commit = anyOf(lastCommits(draft, table), random);
    if (commit === null) return false;
    commit.committedAtUs += off(random, magnitude);
    return true;
  };
}

/** When the message of a reservation was worked off first, wall microseconds. */
function inboxCommits(draft: Draft): ReadonlyMap<string, number> {
  const commits = new Map<string, number>();
  for (const { changes, committedAtUs } of draft.commitLog.transactions) {
    for (const { table, kind, row } of changes) {
      const messageId = row['message_id'];
      if (table === 'consumer_inbox' && kind === 'insert' && typeof messageId === 'string' && !commits.has(messageId)) commits.set(messageId, committedAtUs);
    }
  }
  return commits;
}

/** What LogAppendTime, in whole milliseconds, can be off by the clocks. */
const boundMs = (draft: Draft): number => Math.ceil(draft.run.clock.boundUs / 1_000) + 1;

export const RETIME_MUTANTS: readonly HistoryMutant[] = [
  retimed('retime-order', 'An order was committed at another time than its row says.', 'us', OFF_BY_US, rowCommitted((draft) => draft.postgres.orders)),
  retimed('retime-reservation', 'A reservation was committed at another time than its row says.', 'us', OFF_BY_US, rowCommitted((draft) => draft.postgres.reservations)),
  retimed('retime-token', 'The commit that moved a token, or took it, was at another time.', 'us', OFF_BY_US, commitOf('inventory_token')),
  retimed('retime-ledger-entry', 'The commit of a ledger entry was at another time.', 'us', OFF_BY_US, commitOf('inventory_ledger')),
  retimed('commit-before-its-past', 'A row was changed before the change that it was changed from.', 'us', OFF_BY_US, (draft, random, magnitude) => {
    const paths = new Map<string, Commit[]>();
    for (const commit of draft.commitLog.transactions) for (const row of new Set(commit.changes.flatMap((change) => followed(change) ?? []))) paths.set(row, [...(paths.get(row) ?? []), commit]);
    const [first, second] = anyOf([...paths.values()].filter((path) => path.length >= 2), random) ?? [];
    if (first === undefined || second === undefined) return false;
    second.committedAtUs = first.committedAtUs - magnitude;
    return true;
  }),
  retimed('retime-redis-record', 'Redis says another time of a reservation than its message does.', 'ms', OFF_BY_MS, (draft, random, magnitude) => {
    const told = new Set(draft.kafka.orders.map(({ reservationId }) => reservationId));
    const record = anyOf(draft.redis.records.filter(({ reservationId }) => told.has(reservationId)), random);
    if (record === null) return false;
    record.reservedAtMs += off(random, magnitude);
    return true;
  }),
  retimed('append-before-reserved', 'A message stood in the topic before its reservation was made.', 'ms past the bound of the clocks', OFF_BY_MS, (draft, random, magnitude) => {
    const message = anyOf(draft.kafka.orders, random);
    if (message === null) return false;
    // Of gateways with wrong clocks nobody knows which it was: before the earliest that it can have been.
    const ahead = Math.max(0, ...draft.run.clockSkews.map(({ aheadMs }) => aheadMs));
    message.appendedAtMs = message.reservedAtMs - ahead - boundMs(draft) - magnitude;
    return true;
  }),
  retimed('append-after-inbox', 'A message was worked off before it stood in the topic.', 'ms past the bound of the clocks', OFF_BY_MS, (draft, random, magnitude) => {
    const commits = inboxCommits(draft);
    const message = anyOf(draft.kafka.orders.filter(({ messageId }) => commits.has(messageId)), random);
    if (message === null) return false;
    const appendedAtMs = Math.ceil((commits.get(message.messageId) ?? 0) / 1_000) + boundMs(draft) + magnitude;
    // Every copy of it: the first could have been the one that was worked off.
    for (const copy of draft.kafka.orders) if (copy.messageId === message.messageId) copy.appendedAtMs = appendedAtMs;
    return true;
  }),
];
