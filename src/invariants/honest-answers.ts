/**
 * honest-answers: no answer claims more than the stores can prove. These lies are looked for:
 * told QUEUED with no record in Redis, topic or PostgreSQL (or with somebody else's reservation), or before the broker had its message; told an order, a refusal
 * or a release before it was committed; told 410 or 409 for good while an order exists, and never told of it. And two more: told FINAL_SOLD_OUT, and units were sold
 * after it; a payer or the channel told of a state that was not committed.
 */
import { ANSWER_CODES_BY_NUMBER } from '../domain/reason-codes.js';
import { requestIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import type { HistoryColumns } from '../facts/history.js';
import { wallToMonoUs } from '../facts/timeline.js';
import { acceptancesOf, type Acceptance } from './acceptances.js';
import { commitHistoryOf } from './commit-history.js';
import { isExcused } from './excuses.js';
import { deniedWithOrder } from './final-denials.js';
import {
  kafkaOf, ordersByRequest, ordersByReservation, ordersTopicIsWhole, redisByRequest, redisByReservation, redisOf, reservationRows, topicByReservation,
  planOf,
} from './indexes.js';
import { inboxByReservation } from './inbox-rows.js';
import type { Invariant } from './invariant.js';
import { payerLie } from './payer-answers.js';
import { endOfReservation } from './reservation-end.js';
import { reservedAt } from './reserved-at.js';
import { tallyFor, type Tally } from './tally.js';

export const honestAnswers: Invariant = {
  name: 'honest-answers',
  title: 'Clients hear the truth',
  whatItMeans: 'No client is told that it is queued, has an order or lost, unless a store can prove it at that moment.',
  needs: ['history', 'redis', 'kafka', 'postgres', 'commitLog'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(honestAnswers, facts);
    if (!facts.history.present) return tally.verdict();
    const reported = new Set<string>();
    const toldOf = new Map<string, Acceptance[]>();
    for (const told of acceptancesOf(facts)) {
      const key = told.reservationId ?? told.requestId;
      const sofar = toldOf.get(key);
      if (sofar === undefined) toldOf.set(key, [told]);
      else sofar.push(told);
    }
    for (const told of acceptancesOf(facts)) {
      tally.check();
      const key = told.reservationId ?? told.requestId;
      const lie = whoseProblem(facts, told) ?? recordProblem(facts, told, toldOf.get(key) ?? [], tally) ?? messageProblem(facts, told, tally) ?? commitProblem(facts, told, tally);
      if (lie === null || reported.has(key)) continue;
      reported.add(key);
      const said = `${told.kind === 'first-answer' ? 'was told' : `heard by ${told.kind}`} ${told.code ?? 'an unreadable acceptance'}`;
      tally.violation({ kind: 'request', id: told.requestId, subject: { requestId: told.requestId, reservationId: told.reservationId }, claim: `Request ${told.requestId} ${said}${told.reservationId === null ? '' : ` as ${told.reservationId}`}, and ${lie}.` });
    }
    finalDenials(facts, tally);
    finalSoldOut(facts, tally);
    payers(facts, tally);
    return tally.verdict();
  },
};

/** The reservation told belongs, by every store that knows it, to the request that was answered. */
function whoseProblem(facts: Facts, told: Acceptance): string | null {
  if (told.reservationId === null) return null;
  const owners = [
    ...(redisByReservation(facts).get(told.reservationId) ?? []), ...(topicByReservation(facts).get(told.reservationId) ?? []),
    ...(reservationRows(facts).get(told.reservationId) ?? []), ...(ordersByReservation(facts).get(told.reservationId) ?? []),
  ];
  const other = owners.find((owner) => owner.requestId !== told.requestId || owner.userId !== told.userId);
  return other === undefined ? null : `reservation ${told.reservationId} belongs to request ${other.requestId} of user ${other.userId}`;
}

function recordProblem(facts: Facts, told: Acceptance, all: readonly Acceptance[], tally: Tally): string | null {
  const { reservationId, requestId } = told;
  const known = reservationId !== null
    ? redisByReservation(facts).has(reservationId) || topicByReservation(facts).has(reservationId) || reservationRows(facts).has(reservationId) ||
      ordersByReservation(facts).has(reservationId) || inboxByReservation(facts).has(reservationId)
    : redisByRequest(facts).has(requestId) || ordersByRequest(facts).has(requestId);
  if (known) return null;
  if (!facts.redis.present || !facts.kafka.present || !facts.postgres.present) {
    tally.gap('some answers have no record in the stores that could be read');
    return null;
  }
  if (isExcused(facts, reservationId, all)) {
    if (told === all[0]) tally.excuse();
    return null;
  }
  return `neither Redis nor the topic nor PostgreSQL has a record of ${reservationId === null ? 'it' : `reservation ${reservationId}`}`;
}

/**
 * QUEUED means that the broker has the message; QUEUED_PENDING_MESSAGE is the word for "not yet". A row proves it as well: it came by the message, or by
 * somebody who has taken it over for good.
 */
function messageProblem(facts: Facts, told: Acceptance, tally: Tally): string | null {
  if (told.code !== 'QUEUED' || told.reservationId === null || !facts.kafka.present || !facts.postgres.present) return null;
  const { clock } = facts.run;
  const heardUs = told.answeredUs + clock.boundUs;
  const appendedUs = (topicByReservation(facts).get(told.reservationId) ?? []).map((copy) => wallToMonoUs(clock, copy.appendedAtMs * 1_000));
  const firstUs = appendedUs.reduce((first, us) => Math.min(first, us), Infinity);
  if (firstUs <= heardUs) return null;
  const committedUs = commitHistoryOf(facts).reservations.get(told.reservationId)?.[0]?.transaction.committedAtUs;
  if (committedUs !== undefined && wallToMonoUs(clock, committedUs) <= heardUs) return null;
  if (!ordersTopicIsWhole(facts)) {
    tally.gap('the orders topic was not read from its first record, so nobody knows when the broker had some messages');
    return null;
  }
  if (!facts.commitLog.present && reservationRows(facts).has(told.reservationId)) {
    tally.gap('without a commit log nobody knows whether states were told too early');
    return null;
  }
  return firstUs === Infinity ? 'its message never reached the topic' : `its message reached the topic at least ${((firstUs - heardUs) / 1000).toFixed(1)} ms later`;
}

/** An order, a refusal or a release may be told only once it is committed. */
function commitProblem(facts: Facts, told: Acceptance, tally: Tally): string | null {
  if (told.code !== 'ORDERED' && told.code !== 'REJECTED' && told.code !== 'RELEASED') return null;
  if (!facts.postgres.present) return null;
  const committed = told.code === 'ORDERED' ? orderCommit(facts, told) : endCommit(facts, told);
  if (typeof committed === 'string') return committed;
  if (committed === null) {
    if (facts.commitLog.present) return null;
    tally.gap('without a commit log nobody knows whether states were told too early');
    return null;
  }
  const early = wallToMonoUs(facts.run.clock, committed) - facts.run.clock.boundUs - told.answeredUs;
  return early > 0 ? `it was committed at least ${(early / 1000).toFixed(1)} ms later` : null;
}

/** When the order that was told was committed; a text: there is none such; null: the log does not say. */
function orderCommit(facts: Facts, told: Acceptance): number | string | null {
  const orders = told.reservationId === null ? ordersByRequest(facts).get(told.requestId) : ordersByReservation(facts).get(told.reservationId);
  const order = told.orderId === null ? orders?.[0] : orders?.find((candidate) => candidate.orderId === told.orderId);
  if (order === undefined) return `there is no order ${told.orderId ?? 'of this reservation'}`;
  return commitHistoryOf(facts).orders.get(order.orderId)?.[0]?.transaction.committedAtUs ?? null;
}

/** Not RELEASE_PENDING (30): the money is not back, and the unit is held. */
const ENDS_TOLD_AS: Readonly<Record<'REJECTED' | 'RELEASED', readonly number[]>> = { REJECTED: [20, 50], RELEASED: [20, 40, 50] };

function endCommit(facts: Facts, told: Acceptance): number | string | null {
  if (told.reservationId === null || (told.code !== 'REJECTED' && told.code !== 'RELEASED')) return null;
  const row = reservationRows(facts).get(told.reservationId)?.[0];
  if (row === undefined) return endOfReservation(facts, told.reservationId).end === 'refused' ? null : 'PostgreSQL has never refused or released it';
  const ends = ENDS_TOLD_AS[told.code];
  if (!ends.includes(row.status)) return `its reservation row is in state ${String(row.status)}`;
  if (told.orderId !== null && told.orderId !== row.orderId) return `its order is ${row.orderId ?? 'none'} and not ${told.orderId}`;
  const step = commitHistoryOf(facts).reservations.get(told.reservationId)?.find((candidate) => ends.includes(candidate.status));
  return step?.transaction.committedAtUs ?? null;
}

function finalDenials(facts: Facts, tally: Tally): void {
  if (!facts.postgres.present) return;
  for (const denial of deniedWithOrder(facts)) {
    tally.check();
    tally.violation({
      kind: 'request', id: denial.requestId, severity: 2, subject: { requestId: denial.requestId },
      claim: `Request ${denial.requestId} has order ${denial.orderId}; the last its client heard was ${denial.code}, and never of the order.`,
    });
  }
}

const FINAL_NUMBER = ANSWER_CODES_BY_NUMBER.indexOf('FINAL_SOLD_OUT');

/** "Nothing left, and no unit can come back" is a promise about the rest of the sale. */
function finalSoldOut(facts: Facts, tally: Tally): void {
  if (!facts.history.present) return;
  const { columns } = facts.history.value;
  const index = firstTold(columns, FINAL_NUMBER);
  if (index === null) return;
  const promisedUs = columns.answeredUs[index] ?? NaN;
  const latest = new Map([...redisOf(facts).records, ...kafkaOf(facts).orders].map((record) => [record.reservationId, record.reservedAtMs]));
  const { clock } = facts.run;
  for (const [reservationId, reservedAtMs] of latest) {
    tally.check();
    if (wallToMonoUs(clock, reservedAt(facts, reservedAtMs).earliestMs * 1000) <= promisedUs + clock.boundUs) continue;
    const requestId = requestIdAt(facts.run.load, planOf(facts), index);
    tally.violation({
      kind: 'request', id: requestId, subject: { requestId, reservationId },
      claim: `Request ${requestId} was told FINAL_SOLD_OUT, and reservation ${reservationId} was made after it.`,
    });
  }
}

/** The arrival that was the first to be told so. */
function firstTold(columns: HistoryColumns, code: number): number | null {
  let first: number | null = null;
  for (let index = 0; index < columns.length; index += 1) {
    if (columns.answerCode[index] === code && (first === null || (columns.answeredUs[index] ?? NaN) < (columns.answeredUs[first] ?? NaN))) first = index;
  }
  return first;
}

function payers(facts: Facts, tally: Tally): void {
  if (!facts.history.present || !facts.postgres.present) return;
  for (const told of facts.history.value.payerTellings) {
    tally.check();
    const lie = payerLie(facts, told);
    if (lie === null) continue;
    tally.violation({ kind: 'order', id: told.orderId, subject: { orderId: told.orderId }, claim: `About order ${told.orderId} a ${told.act} was answered ${told.code ?? ''}, and ${lie}.` });
  }
}
