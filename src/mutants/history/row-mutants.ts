/** Rows that vanish, come twice or exchange what is theirs: made from the tables, so that new evidence is corrupted without anybody thinking of it. */
import { anyOf, someOf, type HistoryMutant } from './history-mutant.js';
import { ROW_TABLES, type Row, type RowTable } from './row-tables.js';

const HOW_MANY = [1, 2, 5] as const;

function dropped({ name, rows }: RowTable): HistoryMutant {
  return {
    name: `drop-${name}`, description: `A ${name} is gone from the evidence.`, unit: 'rows', magnitudes: HOW_MANY, equivalent: null,
    apply(draft, random, magnitude) {
      const items = rows(draft);
      const gone = someOf(items, magnitude, random);
      if (gone === null) return false;
      for (const row of gone) items.splice(items.indexOf(row), 1);
      return true;
    },
  };
}

function doubled({ name, rows }: RowTable): HistoryMutant {
  return {
    name: `double-${name}`, description: `A ${name} stands there once more.`, unit: 'copies', magnitudes: HOW_MANY, equivalent: null,
    apply(draft, random, magnitude) {
      const items = rows(draft);
      const row = anyOf(items, random);
      if (row === null) return false;
      const at = items.indexOf(row);
      for (let copy = 0; copy < magnitude; copy += 1) items.splice(at, 0, structuredClone(row));
      return true;
    },
  };
}

/** The last record of its partition, later than all before it, and read like them. */
function redelivered({ name, rows, boundsOf }: RowTable): HistoryMutant[] {
  if (boundsOf === null) return [];
  return [{
    name: `redeliver-${name}`, description: `A ${name} is delivered once more, at the end of its partition.`, unit: 'copies', magnitudes: HOW_MANY, equivalent: 'delivered twice is what at-least-once means',
    apply(draft, random, magnitude) {
      const items = rows(draft);
      const row = anyOf(items, random);
      const bounds = boundsOf(draft).find(({ partition }) => partition === row?.['partition']);
      if (row === null || bounds === undefined) return false;
      for (let copy = 0; copy < magnitude; copy += 1) {
        const appendedAtMs = items.reduce((latest, item) => Math.max(latest, Number(item['appendedAtMs'])), 0) + 1;
        items.push({ ...structuredClone(row), offset: bounds.endOffset, appendedAtMs });
        const wasRead = bounds.committedOffset === bounds.endOffset;
        bounds.endOffset = String(BigInt(bounds.endOffset) + 1n);
        if (wasRead) bounds.committedOffset = bounds.endOffset;
      }
      return true;
    },
  }];
}

function exchanged({ name, rows }: RowTable, field: string): HistoryMutant {
  return {
    name: `swap-${name}-${field}`, description: `Two rows of kind ${name} have exchanged their ${field}.`, unit: 'pairs', magnitudes: [1], equivalent: null,
    apply(draft, random) {
      const items = rows(draft);
      const first = anyOf(items.filter((row) => row[field] !== undefined && row[field] !== null), random);
      if (first === null) return false;
      // Rows that differ in nothing else only change places.
      const rest = (row: Row): string => JSON.stringify({ ...row, [field]: null });
      const second = anyOf(items.filter((row) => row[field] !== undefined && row[field] !== null && row[field] !== first[field] && rest(row) !== rest(first)), random);
      if (second === null) return false;
      [first[field], second[field]] = [second[field], first[field]];
      return true;
    },
  };
}

/** No row of the evidence vanishes when a mark stays: it has to be put back. */
const LEFT_MARK: HistoryMutant = {
  name: 'leave-user-mark', description: 'The mark of a user who has none any more still stands.', unit: 'marks', magnitudes: HOW_MANY, equivalent: null,
  apply(draft, random, magnitude) {
    const marked = new Set(draft.redis.users.map(({ userId }) => userId));
    const ended = draft.postgres.reservations.filter(({ userId, status }) => !marked.has(userId) && (status === 20 || status === 40 || status === 50));
    const rows = someOf([...new Map(ended.map((row) => [row.userId, row])).values()], magnitude, random);
    for (const { userId, requestId } of rows ?? []) draft.redis.users.push({ userId, requestId });
    return rows !== null;
  },
};

export const ROW_MUTANTS: readonly HistoryMutant[] = [...ROW_TABLES.flatMap((table) => [dropped(table), doubled(table), ...redelivered(table), ...table.identity.map((field) => exchanged(table, field))]), LEFT_MARK];
