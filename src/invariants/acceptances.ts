/**
 * Everything by which a client was told that its request was accepted: first answers from the columns, polls and odd answers from the tellings.
 * Only these few (about the stock, plus repeats) become objects; refusals stay in the columns.
 */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES, reservationAt, type HistoryColumns, type Telling } from '../facts/history.js';
import { requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import { grouped, planOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';

export interface Acceptance {
  readonly kind: Telling['kind'];
  readonly arrival: number;
  /** Arrival whose request id was asked about. */
  readonly request: number;
  readonly requestId: string;
  readonly userId: string;
  /** Null where the answer named none or could not be read. */
  readonly reservationId: string | null;
  readonly orderId: string | null;
  /** Null: an accepting status with a body that could not be read. */
  readonly code: AnswerCode | null;
  readonly askedUs: number;
  readonly answeredUs: number;
}

const ACCEPTING: readonly AnswerCode[] = ['QUEUED', 'QUEUED_PENDING_MESSAGE', 'ORDERED', 'REJECTED', 'RELEASED'];
/** Accepting codes are the first of the list; a test holds that. */
const ACCEPTING_NUMBERS = new Set(ACCEPTING.map((code) => ANSWER_CODES_BY_NUMBER.indexOf(code)));
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const NO_CODE = 255;

function acceptsAt(columns: HistoryColumns, index: number): boolean {
  if (columns.outcome[index] !== ANSWERED) return false;
  const code = columns.answerCode[index] ?? NO_CODE;
  if (ACCEPTING_NUMBERS.has(code)) return true;
  const status = columns.httpStatus[index];
  return code === NO_CODE && (status === 200 || status === 202);
}

function acceptsTelling(telling: Telling): boolean {
  const readable = telling.code !== null;
  const accepts = readable ? ACCEPTING.includes(telling.code) : telling.httpStatus === 200 || telling.httpStatus === 202;
  // With Redis and PostgreSQL gone a query answers "queued" without an id: it tells the client to wait and claims no reservation.
  return accepts && (telling.kind === 'first-answer' || telling.reservationId !== null || (readable && telling.code !== 'QUEUED' && telling.code !== 'QUEUED_PENDING_MESSAGE'));
}

/** In the order of arrivals, then the tellings. */
export const acceptancesOf: (facts: Facts) => readonly Acceptance[] = rememberedPerFacts((facts) => {
  if (!facts.history.present) return [];
  const { columns, tellings } = facts.history.value;
  const plan = planOf(facts);
  const found: Acceptance[] = [];
  for (let index = 0; index < columns.length; index += 1) {
    if (!acceptsAt(columns, index)) continue;
    found.push({
      kind: 'first-answer',
      arrival: index,
      request: plan.requestOf[index] ?? index,
      requestId: requestIdAt(facts.run.load, plan, index),
      userId: userIdAt(plan, index),
      reservationId: reservationAt(columns, index),
      orderId: null,
      code: ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? NO_CODE] ?? null,
      askedUs: columns.sentUs[index] ?? NaN,
      answeredUs: columns.answeredUs[index] ?? NaN,
    });
  }
  for (const telling of tellings) {
    if (!acceptsTelling(telling)) continue;
    const { kind, arrival, requestId, userId, reservationId, orderId, code, askedUs, answeredUs } = telling;
    found.push({ kind, arrival, request: plan.requestOf[arrival] ?? arrival, requestId, userId, reservationId, orderId, code, askedUs, answeredUs });
  }
  return found;
});

/** By the arrival whose request id was asked about. */
export const acceptancesByRequest: (facts: Facts) => ReadonlyMap<number, readonly Acceptance[]> = rememberedPerFacts((facts) =>
  grouped(acceptancesOf(facts), (acceptance) => acceptance.request));

/** By the reservation told; answers that named none are left out. */
export const acceptancesByReservation: (facts: Facts) => ReadonlyMap<string, readonly Acceptance[]> = rememberedPerFacts((facts) => {
  const groups = grouped(acceptancesOf(facts), (acceptance) => acceptance.reservationId);
  return new Map([...groups].filter((entry): entry is [string, readonly Acceptance[]] => entry[0] !== null));
});
