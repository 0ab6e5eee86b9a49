/**
 * one-answer-per-request: a request id hears one reservation id for ever, and no refusal that denies it once it has been accepted.
 *
 * Allowed before the acceptance: 409, 410, 425, 429, 5xx. Allowed after it: 429 and 5xx, which say nothing about the outcome (a gateway that lost its
 * stores has to fail closed for repeats as well). A refusal that was under way while the acceptance was answered counts as before it.
 */
import { ARRIVAL_KINDS } from '../facts/load-spec.js';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES } from '../facts/history.js';
import { acceptancesByRequest, type Acceptance } from './acceptances.js';
import { isExcused } from './excuses.js';
import { ordersByReservation, planOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { endOfReservation } from './reservation-end.js';
import { orderIsLive } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

export const oneAnswerPerRequest: Invariant = {
  name: 'one-answer-per-request',
  title: 'One answer for each request',
  whatItMeans: 'However often a client repeats a request, it hears of the same reservation; once accepted it is never told that it lost.',
  needs: ['history', 'postgres'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(oneAnswerPerRequest, facts);
    if (!facts.history.present) return tally.verdict();
    for (const told of acceptancesByRequest(facts).values()) oneReservation(facts, told, tally);
    refusedAfterwards(facts, tally);
    return tally.verdict();
  },
};

/** After a proven loss the request is a new one: the reservation that was lost with all its traces does not count beside the next. */
function oneReservation(facts: Facts, told: readonly Acceptance[], tally: Tally): void {
  tally.check();
  const reservations = new Set(told.flatMap((acceptance) => acceptance.reservationId ?? []));
  const [first] = told;
  if (reservations.size < 2 || first === undefined) return;
  const lost = [...reservations].filter((id) => isExcused(facts, id, told.filter(({ reservationId }) => reservationId === id)));
  if (reservations.size - lost.length < 2) {
    tally.excuse();
    return;
  }
  tally.violation({
    kind: 'request', id: first.requestId, severity: reservations.size, subject: { requestId: first.requestId },
    claim: `Request ${first.requestId} was told ${String(reservations.size)} reservations: ${inShort(reservations, 3)}.`,
  });
}

const DENIALS: readonly AnswerCode[] = ['SOLD_OUT', 'TEMP_SOLD_OUT', 'FINAL_SOLD_OUT', 'USER_HAS_ONE', 'IDEMPOTENCY_CONFLICT', 'NOT_STARTED'];
const DENIAL_NUMBERS = new Set(DENIALS.map((code) => ANSWER_CODES_BY_NUMBER.indexOf(code)));
const CONFLICT_NUMBER = ANSWER_CODES_BY_NUMBER.indexOf('IDEMPOTENCY_CONFLICT');
const CONFLICT_KIND = ARRIVAL_KINDS.indexOf('conflict');
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');

function refusedAfterwards(facts: Facts, tally: Tally): void {
  if (!facts.history.present) return;
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const accepted = acceptancesByRequest(facts);
  const isAccepted = new Uint8Array(columns.length);
  for (const request of accepted.keys()) isAccepted[request] = 1;
  // Where an id was used with two payloads, one of them is in the wrong whichever came first.
  const hasConflict = new Set<number>();
  for (let index = 0; index < plan.length; index += 1) if (plan.kind[index] === CONFLICT_KIND) hasConflict.add(plan.requestOf[index] ?? index);
  const reported = new Set<number>();
  for (let index = 0; index < columns.length; index += 1) {
    const request = plan.requestOf[index] ?? index;
    if (isAccepted[request] !== 1 || columns.outcome[index] !== ANSWERED || !DENIAL_NUMBERS.has(columns.answerCode[index] ?? -1)) continue;
    tally.check();
    if (columns.answerCode[index] === CONFLICT_NUMBER && hasConflict.has(request)) continue;
    const told = accepted.get(request) ?? [];
    const before = told.find((acceptance) => acceptance.answeredUs < (columns.sentUs[index] ?? NaN));
    if (before === undefined || reported.has(request)) continue;
    reported.add(request);
    if (before.reservationId !== null && hasEnded(facts, before.reservationId)) continue;
    if (isExcused(facts, before.reservationId, told)) {
      tally.excuse();
      continue;
    }
    tally.violation({
      kind: 'request', id: before.requestId, subject: { requestId: before.requestId },
      claim: `Request ${before.requestId} had been accepted as ${before.reservationId ?? 'an unnamed reservation'} and was then told ${ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? -1] ?? '?'} (arrival ${String(index)}).`,
    });
  }
}

/** After a refusal or a release the client has nothing any more, and "sold out" is true. */
function hasEnded(facts: Facts, reservationId: string): boolean {
  const { end } = endOfReservation(facts, reservationId);
  const order = ordersByReservation(facts).get(reservationId)?.[0];
  return end === 'refused' || end === 'released' || (order !== undefined && !orderIsLive(order.status));
}
