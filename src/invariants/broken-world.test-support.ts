/**
 * Right worlds to break and the small verbs to break them with, for tests of the judges only: one wrong thing is written down in one line, and an
 * edit that misses its target throws instead of passing in silence.
 */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import type { InvariantVerdict } from '../facts/verdict.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { invariantNamed } from './registry.js';

const LIVELY = { mix: { repeatShare: 0.2 }, fates: { cancelled: 0.2, paid: 0.2 }, seed: 5 };
export const TOKEN = handWrittenFacts(LIVELY);
export const ROW = handWrittenFacts({ ...LIVELY, allocator: 'row' });
/** Every life an order can have, units that were sold twice in turn, and users who may buy again. The seed is one in which each of them happens. */
export const LIVES = handWrittenFacts({
  arrivals: 36, stock: 14, seed: 9, mix: { repeatShare: 0.1 }, rules: { restockOnCancel: true, rebuyAfterCancel: true }, endsAfterUs: 150_000,
  fates: { manual: 0.07, deadLetter: 0.1, cancelled: 0.09, expired: 0.09, latePaid: 0.1, paid: 0.09, paidTwice: 0.1, mismatched: 0.13, refunded: 0.1 },
});
/** The same where what was cancelled leaves the sale, and its user with it. */
export const WITHDRAWN = handWrittenFacts({ seed: 11, arrivals: 24, stock: 12, fates: { cancelled: 0.3, refunded: 0.2, paid: 0.2 }, rules: { restockOnCancel: false, rebuyAfterCancel: false } });
export const WITHDRAWN_ROW = handWrittenFacts({
  allocator: 'row', seed: 11, arrivals: 24, stock: 12, fates: { cancelled: 0.3, refunded: 0.2, paid: 0.2 }, rules: { restockOnCancel: false, rebuyAfterCancel: false },
});
export const REFUSED = handWrittenFacts({ fates: { rejected: 0.3, closed: 0.3 }, seed: 5 });

/** An id that no store of these worlds knows. */
export const ELSEWHERE = 'ffffffff-0000-7000-8000-000000000001';

export interface BrokenWorld {
  readonly wrong: string;
  readonly judge: string;
  /** `TOKEN` when left out. */
  readonly world?: Facts;
  readonly edit: (draft: Draft) => void;
  /** Part of the first or worst witness's claim. */
  readonly claim?: RegExp;
}

export function judged(name: string, facts: Facts): InvariantVerdict {
  const invariant = invariantNamed(name);
  if (invariant === null) throw new Error(`no judge ${name}`);
  return invariant.judge(facts);
}

/** What the judge missed of the wrong; empty: it was caught, with a witness that says so. */
export function missedIn(broken: BrokenWorld): readonly string[] {
  const { outcome, violations, first, worst, note } = judged(broken.judge, edited(broken.world ?? TOKEN, broken.edit));
  if (outcome !== 'violated' || violations === 0 || first === null || worst === null) return [`${outcome} with ${String(violations)} violations: ${note}`];
  const claims = `${first.claim} ${worst.claim}`;
  return broken.claim === undefined || broken.claim.test(claims) ? [] : [`claims ${claims}`];
}

export function nth<T>(items: readonly T[], index: number): T {
  const item = items.at(index);
  if (item === undefined) throw new Error(`there is no item ${String(index)} of ${String(items.length)}`);
  return item;
}

/** Moves a commit, in the log and in the rows that still are as it left them: a store tells both the same time. */
export function moveCommit(draft: Draft, transaction: Draft['commitLog']['transactions'][number], byUs: number): void {
  const ids = new Set(transaction.changes.flatMap(({ row }) => [row['order_id'], row['reservation_id']]));
  const touched = [...draft.postgres.orders.filter(({ orderId }) => ids.has(orderId)), ...draft.postgres.reservations.filter(({ reservationId }) => ids.has(reservationId))];
  for (const row of touched) if (row.committedAtUs === transaction.committedAtUs) row.committedAtUs += byUs;
  transaction.committedAtUs += byUs;
}

export function found<T>(items: readonly T[], wanted: (item: T) => boolean): T {
  const item = items.find(wanted);
  if (item === undefined) throw new Error('the world has no such item');
  return item;
}

export function drop<T>(items: T[], item: T): void {
  const at = items.indexOf(item);
  if (at < 0) throw new Error('nothing to drop');
  items.splice(at, 1);
}

/** A failover that was seen to lose reservations of the first half second; Redis was rebuilt after it. */
export function lossProven(draft: Draft): void {
  draft.faults.push({
    id: 'redis-failover#1', name: 'redis-failover', options: {}, scheduledUs: 1_000_000_000, injectedUs: 1_000_000_000, healedUs: 1_000_500_000, prediction: '', proof: 'landed', observed: 'the replica lacked 3 writes',
    healed: true, healObserved: 'promoted', strikes: 1, strikesAsked: 1, hits: [], mayLose: { store: 'redis', fromUs: 1_000_000_000, toUs: 1_000_500_000 },
  });
}

export function openOrder(draft: Draft): Draft['postgres']['orders'][number] {
  return found(draft.postgres.orders, (order) => order.status === 10);
}

export function cancelledOrder(draft: Draft): Draft['postgres']['orders'][number] {
  return found(draft.postgres.orders, (order) => order.status === 40);
}

/** Two different live orders. */
export function twoOpenOrders(draft: Draft): readonly [Draft['postgres']['orders'][number], Draft['postgres']['orders'][number]] {
  const live = draft.postgres.orders.filter((order) => order.status === 10);
  return [nth(live, 0), nth(live, 1)];
}

export function changesOf(draft: Draft, table: string): Draft['commitLog']['transactions'][number]['changes'] {
  return draft.commitLog.transactions.flatMap((transaction) => transaction.changes).filter((change) => change.table === table);
}

/** First arrival that was answered so. */
export function arrivalTold(draft: Draft, wanted: (code: AnswerCode | undefined, index: number) => boolean): number {
  const index = Array.from(draft.history.columns.answerCode).findIndex((code, at) => wanted(ANSWER_CODES_BY_NUMBER[code], at));
  if (index < 0) throw new Error('no arrival was answered so');
  return index;
}

/** Rewrites what an arrival was told; the reservation stays unless one is given. */
export function tell(draft: Draft, index: number, code: AnswerCode, httpStatus: number, reservationId?: string): void {
  const { columns } = draft.history;
  columns.answerCode[index] = ANSWER_CODES_BY_NUMBER.indexOf(code);
  columns.httpStatus[index] = httpStatus;
  columns.outcome[index] = 2;
  if (reservationId !== undefined) columns.reservation.set(Buffer.from(reservationId.replaceAll('-', ''), 'hex'), index * 16);
}

/** The reservation told to an arrival, as hex without dashes. */
export function hexAt(draft: Draft, index: number): string {
  return Buffer.from(draft.history.columns.reservation.slice(index * 16, index * 16 + 16)).toString('hex');
}
