/**
 * The commit log replayed: which states each row went through, in commit order, and whether the log agrees with the snapshot. Two
 * facts that contradict each other cannot both be believed, so a disagreement is a problem of the evidence: never `holds`.
 */
import type { Facts } from '../facts/facts.js';
import type { CommittedTransaction, RowChange } from '../facts/store-facts.js';
import { postgresOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';

export interface StateStep {
  readonly kind: RowChange['kind'];
  /** NaN for a delete. */
  readonly status: number;
  readonly transaction: CommittedTransaction;
}

export interface CommitHistory {
  /** By order id, reservation id, token id, payment id. */
  readonly orders: ReadonlyMap<string, readonly StateStep[]>;
  readonly reservations: ReadonlyMap<string, readonly StateStep[]>;
  readonly tokens: ReadonlyMap<string, readonly StateStep[]>;
  readonly payments: ReadonlyMap<string, readonly StateStep[]>;
  /** Why the log cannot be believed, or not all of it. */
  readonly problems: readonly string[];
}

/** The key column of each table with a state, as the migrations name it. */
export const STATEFUL_TABLES = { orders: 'order_id', inventory_reservation: 'reservation_id', inventory_token: 'token_id', payment_record: 'payment_id' } as const;
type StatefulTable = keyof typeof STATEFUL_TABLES;
type Paths = Map<string, StateStep[]>;

/** Slack for commit times around the clock pairs of the run: only a wrong unit or a wrong epoch is farther off. */
const HOUR_US = 3_600_000_000;

/** The value of a column that a judge cannot do without. */
export function columnOf(change: RowChange, column: string): string {
  const value = change.row[column];
  if (value === undefined || value === null) throw new Error(`commit log: ${change.kind} of ${change.table} without ${column}`);
  return value;
}

/**
 * The changes of a transaction without the rows that it both made and took back: an order that found no unit is deleted before the commit (paper
 * `001` §7.4) and was never there for anybody.
 */
export function visibleChanges(transaction: CommittedTransaction): readonly RowChange[] {
  const keyOf = (change: RowChange): string | null => (isStateful(change.table) ? `${change.table} ${columnOf(change, STATEFUL_TABLES[change.table])}` : null);
  if (!transaction.changes.some((change) => change.kind === 'delete')) return transaction.changes;
  const made = new Set<string>();
  const takenBack = new Set<string>();
  for (const change of transaction.changes) {
    const key = keyOf(change);
    if (key === null) continue;
    if (change.kind === 'insert') made.add(key);
    if (change.kind === 'delete' && made.has(key)) takenBack.add(key);
  }
  return transaction.changes.filter((change) => !takenBack.has(keyOf(change) ?? ''));
}

function isStateful(table: string): table is StatefulTable {
  return Object.hasOwn(STATEFUL_TABLES, table);
}

export const commitHistoryOf: (facts: Facts) => CommitHistory = rememberedPerFacts((facts) => {
  const paths: Record<StatefulTable, Paths> = { orders: new Map(), inventory_reservation: new Map(), inventory_token: new Map(), payment_record: new Map() };
  const problems: string[] = [];
  const result = { orders: paths.orders, reservations: paths.inventory_reservation, tokens: paths.inventory_token, payments: paths.payment_record, problems };
  if (!facts.commitLog.present) return result;
  let lastLsn = -1n;
  for (const transaction of facts.commitLog.value.transactions) {
    const lsn = lsnNumber(transaction.lsn);
    if (lsn <= lastLsn) problems.push(`the commit log is out of order at ${transaction.lsn}`);
    lastLsn = lsn;
    for (const change of visibleChanges(transaction)) {
      if (!isStateful(change.table)) continue;
      const key = columnOf(change, STATEFUL_TABLES[change.table]);
      const step: StateStep = { kind: change.kind, status: change.kind === 'delete' ? NaN : Number(columnOf(change, 'status')), transaction };
      const path = paths[change.table].get(key);
      if (path === undefined) paths[change.table].set(key, [step]);
      else path.push(step);
    }
  }
  problems.push(...clockProblems(facts, facts.commitLog.value.transactions));
  if (facts.postgres.present) problems.push(...disagreements(facts, result));
  return result;
});

/** `16/B374D848` → number, for order only. A log without positions cannot prove its order. */
function lsnNumber(lsn: string): bigint {
  const [high, low] = lsn.split('/');
  return high !== undefined && low !== undefined && /^[0-9A-Fa-f]+$/.test(high + low) ? (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) : -1n;
}

function clockProblems(facts: Facts, transactions: readonly CommittedTransaction[]): string[] {
  const { atStart, atEnd } = facts.run.clock;
  const odd = transactions.find((transaction) => !(transaction.committedAtUs > atStart.wallUs - HOUR_US && transaction.committedAtUs < atEnd.wallUs + HOUR_US));
  return odd === undefined ? [] : [`the commit at ${odd.lsn} has the impossible time ${String(odd.committedAtUs)}`];
}

function disagreements(facts: Facts, log: Omit<CommitHistory, 'problems'>): string[] {
  const { orders, reservations, tokens, payments } = postgresOf(facts);
  return [
    ...disagreement('order', log.orders, new Map(orders.map((row) => [row.orderId, row.status])), true),
    ...disagreement('reservation', log.reservations, new Map(reservations.map((row) => [row.reservationId, row.status])), true),
    ...disagreement('payment', log.payments, new Map(payments.map((row) => [row.paymentId, row.status])), true),
    // Tokens were seeded before the log begins: one that never changed is not in it.
    ...disagreement('token', log.tokens, new Map(tokens.map((row) => [row.tokenId, row.status])), false),
  ];
}

/** At most one line per kind of row: the first row that differs, and how many do. */
function disagreement(what: string, paths: ReadonlyMap<string, readonly StateStep[]>, rows: ReadonlyMap<string, number>, allInLog: boolean): string[] {
  let count = 0;
  let example = '';
  const differ = (text: string): void => {
    count += 1;
    if (count === 1) example = text;
  };
  for (const [id, path] of paths) {
    const last = path.at(-1);
    const expected = last === undefined || last.kind === 'delete' ? undefined : last.status;
    const found = rows.get(id);
    if (expected !== found) differ(`${what} ${id} ends as ${String(expected ?? 'deleted')} in the log and is ${String(found ?? 'absent')} in the snapshot`);
  }
  if (allInLog) {
    for (const id of rows.keys()) if (!paths.has(id)) differ(`${what} ${id} is in the snapshot and was never committed in the log`);
  }
  return count === 0 ? [] : [`commit log and snapshot disagree on ${String(count)} ${what} rows: ${example}`];
}

/** When the order was first committed, wall microseconds; null when the log does not know it. */
export function orderCommittedAtUs(history: CommitHistory, orderId: string): number | null {
  return history.orders.get(orderId)?.[0]?.transaction.committedAtUs ?? null;
}
