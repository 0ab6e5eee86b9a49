/**
 * Times that two witnesses tell differently, or that nothing could have had: a row and the commit that made it, a record and its message, a message before its
 * reservation or after it was worked off. No honest store writes them, so the evidence was changed or read wrongly: never `holds`.
 */
import type { Facts } from '../facts/facts.js';
import { commitHistoryOf, type StateStep } from './commit-history.js';
import { kafkaOf, postgresOf, redisOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';
import { reservedAt } from './reserved-at.js';

/** The clocks of one host's processes agree; LogAppendTime is in whole milliseconds. */
const slackMs = (facts: Facts): number => facts.run.clock.boundUs / 1_000 + 1;

/** At most one line per kind: the first, and how many. */
class Contradictions {
  readonly #found = new Map<string, { count: number; example: string }>();

  add(kind: string, example: () => string): void {
    const known = this.#found.get(kind);
    if (known === undefined) this.#found.set(kind, { count: 1, example: example() });
    else known.count += 1;
  }

  lines(): readonly string[] {
    return [...this.#found].map(([kind, { count, example }]) => `${String(count)} times contradict each other, ${kind}: ${example}`);
  }
}

/** Of snapshot and commit log: a row as it is now was committed by the last transaction of the log that touched it, to the microsecond. */
export const contradictingCommitTimes: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  if (!facts.commitLog.present || !facts.postgres.present) return [];
  const found = new Contradictions();
  const { orders, reservations, tokens, payments } = commitHistoryOf(facts);
  const compare = (what: string, id: string, path: readonly StateStep[] | undefined, committedAtUs: number | null): void => {
    const last = path?.at(-1)?.transaction;
    if (committedAtUs === null || last === undefined || last.committedAtUs === committedAtUs) return;
    found.add(`${what} rows and their commits`, () => `${what} ${id} was committed at ${String(last.committedAtUs)} us by the log (${last.lsn}) and at ${String(committedAtUs)} us by its row`);
  };
  for (const row of postgresOf(facts).orders) compare('order', row.orderId, orders.get(row.orderId), row.committedAtUs);
  for (const row of postgresOf(facts).reservations) compare('reservation', row.reservationId, reservations.get(row.reservationId), row.committedAtUs);
  // Who changes a row waits for the one before to commit.
  for (const paths of [orders, reservations, tokens, payments]) {
    for (const [id, path] of paths) {
      const at = path.findIndex(({ transaction }, index) => transaction.committedAtUs < (path[index - 1]?.transaction.committedAtUs ?? -Infinity));
      if (at >= 0) found.add('commits of one row', () => `${id} was changed at ${String(path[at]?.transaction.committedAtUs)} us, after it had been changed at ${String(path[at - 1]?.transaction.committedAtUs)} us`);
    }
  }
  return found.lines();
});

/** Of messages: not before the reservation that they tell of, not after the commit that worked them off, and with the times of the record in Redis. */
export const contradictingMessageTimes: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  const found = new Contradictions();
  const slack = slackMs(facts);
  const records = new Map(redisOf(facts).records.map((record) => [record.reservationId, record]));
  const firstMs = new Map<string, number>();
  for (const { messageId, reservationId, reservedAtMs, expiresAtMs, appendedAtMs } of kafkaOf(facts).orders) {
    firstMs.set(messageId, Math.min(appendedAtMs, firstMs.get(messageId) ?? Infinity));
    const { earliestMs } = reservedAt(facts, reservedAtMs);
    if (appendedAtMs < earliestMs - slack) found.add('messages and reservations', () => `message ${messageId} was appended at ${String(appendedAtMs)} ms, and reservation ${reservationId} was made at ${String(earliestMs)} ms`);
    const record = records.get(reservationId);
    if (record !== undefined && (record.reservedAtMs !== reservedAtMs || record.expiresAtMs !== expiresAtMs)) {
      found.add('messages and records', () => `reservation ${reservationId} was made at ${String(reservedAtMs)} ms until ${String(expiresAtMs)} ms by its message and at ${String(record.reservedAtMs)} ms until ${String(record.expiresAtMs)} ms by Redis`);
    }
  }
  if (!facts.commitLog.present) return found.lines();
  for (const { changes, committedAtUs } of facts.commitLog.value.transactions) {
    for (const { table, kind, row } of changes) {
      if (table !== 'consumer_inbox' || kind !== 'insert') continue;
      const appendedMs = firstMs.get(row['message_id'] ?? '');
      if (appendedMs !== undefined && committedAtUs / 1_000 < appendedMs - slack) {
        found.add('messages and their Inbox rows', () => `message ${row['message_id'] ?? ''} was worked off at ${String(committedAtUs / 1_000)} ms and appended at ${String(appendedMs)} ms`);
      }
    }
  }
  return found.lines();
});
