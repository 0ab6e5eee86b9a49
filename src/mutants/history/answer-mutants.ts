/** Answers that were never given so: to the wrong client, about the wrong reservation, or promising more than there is. */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import { expandArrivalPlan } from '../../facts/arrival-plan.js';
import { ARRIVAL_OUTCOMES } from '../../facts/history.js';
import { anyOf, someOf, type Draft, type HistoryMutant } from './history-mutant.js';

const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const INDETERMINATE = ARRIVAL_OUTCOMES.indexOf('indeterminate');
const NO_CODE = 255;
const ID_BYTES = 16;

function arrivals(draft: Draft, wanted: (code: AnswerCode | undefined, httpStatus: number) => boolean): number[] {
  const { columns } = draft.history;
  return Array.from(columns.answerCode.keys()).filter((index) => columns.outcome[index] === ANSWERED && wanted(ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? NO_CODE], columns.httpStatus[index] ?? 0));
}

function hasReservation(draft: Draft, index: number): boolean {
  return draft.history.columns.reservation.subarray(index * ID_BYTES, (index + 1) * ID_BYTES).some((byte) => byte !== 0);
}

function idAt(draft: Draft, index: number): string {
  return Buffer.from(draft.history.columns.reservation.subarray(index * ID_BYTES, (index + 1) * ID_BYTES)).toString('hex');
}

function tell(draft: Draft, index: number, code: AnswerCode, httpStatus: number): void {
  draft.history.columns.answerCode[index] = ANSWER_CODES_BY_NUMBER.indexOf(code);
  draft.history.columns.httpStatus[index] = httpStatus;
}

/** The arrival that made the request: request ids end in it. */
function arrivalOf(requestId: string): number {
  return Number(requestId.slice(requestId.lastIndexOf('-') + 1));
}

/** An id that no store can know: version 7 by its form, its time long before the sale. */
function strangeId(random: () => number): Uint8Array {
  const bytes = Uint8Array.from({ length: ID_BYTES }, () => Math.floor(random() * 256));
  bytes.set([0, 0, 0, 0, 1], 0);
  bytes[6] = 0x70;
  return bytes;
}

/** One kind of answer that is wrong, a few at a time. */
function mutant(name: string, description: string, apply: HistoryMutant['apply'], equivalent: string | null = null, magnitudes: readonly number[] = [1, 2, 5], unit = 'answers'): HistoryMutant {
  return { name, description, unit, magnitudes, equivalent, apply };
}

export const ANSWER_MUTANTS: readonly HistoryMutant[] = [
  mutant('swap-answers', 'Two winners were told each other’s reservation.', (draft, random) => {
    const { reservation } = draft.history.columns;
    const winners = arrivals(draft, (_, status) => status === 202 || status === 200).filter((index) => hasReservation(draft, index));
    const first = anyOf(winners, random);
    const second = first === null ? null : anyOf(winners.filter((index) => idAt(draft, index) !== idAt(draft, first)), random);
    if (first === null || second === null) return false;
    const firstId = reservation.slice(first * ID_BYTES, (first + 1) * ID_BYTES);
    reservation.copyWithin(first * ID_BYTES, second * ID_BYTES, (second + 1) * ID_BYTES);
    reservation.set(firstId, second * ID_BYTES);
    return true;
  }, null, [1], 'pairs'),
  mutant('invent-winner', 'A client who was refused was told that he has a unit.', (draft, random, magnitude) => {
    const chosen = someOf(arrivals(draft, (code) => code === 'SOLD_OUT' || code === 'LIMITED'), magnitude, random);
    if (chosen === null) return false;
    for (const index of chosen) {
      tell(draft, index, 'QUEUED', 202);
      draft.history.columns.reservation.set(strangeId(random), index * ID_BYTES);
    }
    return true;
  }),
  mutant('rename-answer', 'A winner was told a reservation that nobody has.', (draft, random, magnitude) => {
    const chosen = someOf(arrivals(draft, (_, status) => status === 202 || status === 200).filter((index) => hasReservation(draft, index)), magnitude, random);
    if (chosen === null) return false;
    for (const index of chosen) draft.history.columns.reservation.set(strangeId(random), index * ID_BYTES);
    return true;
  }),
  mutant('promise-order', 'A client who was refused was told of an order.', (draft, random, magnitude) => {
    const chosen = someOf(arrivals(draft, (code) => code === 'SOLD_OUT'), magnitude, random);
    if (chosen === null) return false;
    for (const index of chosen) {
      tell(draft, index, 'ORDERED', 200);
      draft.history.columns.reservation.set(strangeId(random), index * ID_BYTES);
    }
    return true;
  }),
  mutant('deny-order', 'The last that a client heard of his live order was that all is sold.', (draft, random, magnitude) => {
    // Who asked once more has heard something else last, if only "not now"; who has paid has heard of his order.
    const { requestOf } = expandArrivalPlan(draft.run.load);
    const answers = new Map<number, number>();
    for (const index of arrivals(draft, () => true)) {
      const request = requestOf[index] ?? index;
      answers.set(request, (answers.get(request) ?? 0) + 1);
    }
    const payers = new Set(draft.history.payerTellings.map((telling) => telling.orderId));
    const orders = someOf(draft.postgres.orders.filter((order) => (order.status === 10 || order.status === 30) && !payers.has(order.orderId) && (answers.get(arrivalOf(order.requestId)) ?? 0) <= 1), magnitude, random);
    if (orders === null) return false;
    for (const { requestId } of orders) {
      draft.history.tellings = draft.history.tellings.filter((telling) => telling.requestId !== requestId);
      const plan = arrivalOf(requestId);
      draft.history.columns.outcome[plan] = ANSWERED;
      draft.history.columns.reservation.fill(0, plan * ID_BYTES, (plan + 1) * ID_BYTES);
      if (Number.isNaN(draft.history.columns.answeredUs[plan] ?? NaN)) draft.history.columns.answeredUs[plan] = (draft.history.columns.sentUs[plan] ?? 0) + 1_000;
      tell(draft, plan, 'SOLD_OUT', 410);
    }
    return true;
  }),
  mutant('rename-telling', 'A poll was answered with another order than the one there is.', (draft, random, magnitude) => {
    const chosen = someOf(draft.history.tellings.filter((telling) => telling.orderId !== null), magnitude, random);
    if (chosen === null) return false;
    for (const telling of chosen) telling.orderId = `${telling.orderId ?? ''}9`;
    return true;
  }),
  mutant('forget-arrival', 'An arrival is in no row of the history.', (draft, _, magnitude) => {
    const { columns } = draft.history;
    if (columns.length <= magnitude) return false;
    draft.history.columns = {
      length: columns.length - magnitude,
      intendedUs: columns.intendedUs.slice(0, -magnitude), sentUs: columns.sentUs.slice(0, -magnitude), answeredUs: columns.answeredUs.slice(0, -magnitude),
      httpStatus: columns.httpStatus.slice(0, -magnitude), answerCode: columns.answerCode.slice(0, -magnitude), outcome: columns.outcome.slice(0, -magnitude),
      reservation: columns.reservation.slice(0, -magnitude * ID_BYTES),
    };
    return true;
  }, null, [1, 5], 'arrivals'),
  mutant('end-in-redis', 'A record that holds its unit says in Redis that it ended.', (draft, random, magnitude) => {
    const chosen = someOf(draft.redis.records.filter((record) => record.state === 'O'), magnitude, random);
    for (const record of chosen ?? []) record.state = 'L';
    return chosen !== null;
  }, null, [1, 2, 5], 'records'),
  mutant('name-end-otherwise', 'A record that ended without an order says REJECTED where it was RELEASED, or the reverse.', (draft, random, magnitude) => {
    const chosen = someOf(draft.redis.records.filter((record) => record.orderId === null && (record.state === 'R' || record.state === 'L')), magnitude, random);
    for (const record of chosen ?? []) record.state = record.state === 'R' ? 'L' : 'R';
    return chosen !== null;
  }, 'both words say that it ended without an order; which of them is told is judged where a client heard it', [1], 'records'),
  mutant('lose-refusal', 'A refusal did not reach its client.', (draft, random, magnitude) => {
    const chosen = someOf(arrivals(draft, (code) => code === 'SOLD_OUT' || code === 'LIMITED' || code === 'USER_HAS_ONE'), magnitude, random);
    if (chosen === null) return false;
    for (const index of chosen) loseAnswer(draft, index);
    return true;
  }, 'an answer can get lost on its way, and a refusal leaves nothing in the stores'),
  mutant('lose-acceptance', 'An acceptance did not reach its client.', (draft, random, magnitude) => {
    const chosen = someOf(arrivals(draft, (code) => code === 'QUEUED' || code === 'QUEUED_PENDING_MESSAGE'), magnitude, random);
    if (chosen === null) return false;
    for (const index of chosen) loseAnswer(draft, index);
    return true;
  }, 'an answer can get lost on its way; the unit is his all the same'),
];

function loseAnswer(draft: Draft, index: number): void {
  const { columns } = draft.history;
  columns.outcome[index] = INDETERMINATE;
  columns.answeredUs[index] = NaN;
  columns.httpStatus[index] = 0;
  columns.answerCode[index] = NO_CODE;
  columns.reservation.fill(0, index * ID_BYTES, (index + 1) * ID_BYTES);
}
