/**
 * What is done with the first answer to an arrival: its row in the columns, a telling when it says more than its row, and a follow-up client when
 * its request was accepted or nobody knows.
 *
 * Told: every acceptance (200, 202; repeats of accepted requests among them); any answer to a request that was accepted before; RESULT_UNKNOWN; and what
 * is odd, which is any status or code that the contract does not give to such an arrival. Refusals that the contract knows (409, 410, 425, 403, 429,
 * 503 UNAVAILABLE or PAUSED, 400 to a malformed request, PERMIT_INVALID to a bot) are in the columns only: 300,000 a second of them would drown the rest.
 */
import { HTTP_STATUS_OF } from '../domain/answer.js';
import type { AnswerCode } from '../domain/reason-codes.js';
import { requestIdAt, userIdAt, type ArrivalPlan } from '../facts/arrival-plan.js';
import { ARRIVAL_KINDS, BOT_KINDS, type LoadSpec } from '../facts/load-spec.js';
import { NO_CODE, codeOfNumber, isFinalCode, numberOfCode } from './http-answer.js';
import type { FollowUps, OrderListener } from './follow-ups.js';
import type { HistoryRecorder } from './history-recorder.js';
import type { TellingsFile } from './tellings-file.js';

/** The parts of an answer that only tellings show; asked for when one is written. */
export interface AnswerDetails {
  orderId(): string | null;
  location(): string | null;
}

const MALFORMED = ARRIVAL_KINDS.indexOf('malformed');
const RESULT_UNKNOWN = numberOfCode('RESULT_UNKNOWN');
const ORDERED = numberOfCode('ORDERED');
const INVALID = numberOfCode('INVALID');
const PERMIT_INVALID = numberOfCode('PERMIT_INVALID');
const IS_BOT = ARRIVAL_KINDS.map((kind) => BOT_KINDS.includes(kind));
const KNOWN_REFUSALS: readonly AnswerCode[] = [
  'IDEMPOTENCY_CONFLICT', 'USER_HAS_ONE', 'SOLD_OUT', 'NOT_STARTED', 'ENDED', 'LIMITED', 'UNAVAILABLE',
  'PAUSED', 'QUEUE_FULL', 'TEMP_SOLD_OUT', 'FINAL_SOLD_OUT', 'HOLD_LIMIT',
];
/** HTTP status of each refusal code by its number; 0: not a known refusal. */
const REFUSAL_STATUS = new Uint16Array(NO_CODE + 1);
for (const code of KNOWN_REFUSALS) REFUSAL_STATUS[numberOfCode(code)] = HTTP_STATUS_OF[code];

export function isAcceptance(status: number): boolean {
  return status === 200 || status === 202;
}

export class FirstAnswers {
  readonly #load: LoadSpec;
  readonly #plan: ArrivalPlan;
  readonly #recorder: HistoryRecorder;
  readonly #tellings: Pick<TellingsFile, 'tell'>;
  readonly #followUps: FollowUps;
  readonly #orders: OrderListener | null;
  /** 1: this request has been accepted. By the arrival that made the request. */
  readonly #accepted: Uint8Array;

  constructor(parts: { load: LoadSpec; plan: ArrivalPlan; recorder: HistoryRecorder; tellings: Pick<TellingsFile, 'tell'>; followUps: FollowUps; orders?: OrderListener | null }) {
    this.#load = parts.load;
    this.#plan = parts.plan;
    this.#recorder = parts.recorder;
    this.#tellings = parts.tellings;
    this.#followUps = parts.followUps;
    this.#orders = parts.orders ?? null;
    this.#accepted = new Uint8Array(parts.plan.length);
  }

  answered(index: number, nowUs: number, status: number, codeNumber: number, reservationId: string | null, details: AnswerDetails): void {
    this.#recorder.answer(index, nowUs, status, codeNumber, reservationId);
    const request = this.#plan.requestOf[index] ?? index;
    const acceptedBefore = this.#accepted[request] === 1;
    if (isAcceptance(status)) {
      this.#accepted[request] = 1;
      this.#followUps.follow(request, nowUs, isFinalCode(codeNumber));
      if (codeNumber === ORDERED) this.#tellOrder(request, details.orderId(), nowUs);
    } else if (codeNumber === RESULT_UNKNOWN) {
      this.#followUps.follow(request, nowUs, false);
    }
    if (!acceptedBefore && this.#isPlain(index, status, codeNumber)) return;
    this.#tellings.tell({
      kind: 'first-answer',
      arrival: index,
      requestId: requestIdAt(this.#load, this.#plan, index),
      userId: userIdAt(this.#plan, index),
      askedUs: this.#recorder.columns.sentUs[index] ?? NaN,
      answeredUs: nowUs,
      httpStatus: status,
      code: codeOfNumber(codeNumber),
      reservationId,
      orderId: details.orderId(),
      location: details.location(),
    });
  }

  /** Written, and no answer. The row says so already; a malformed request can have had no effect. */
  lost(index: number, nowUs: number): void {
    if (this.#plan.kind[index] !== MALFORMED) this.#followUps.follow(this.#plan.requestOf[index] ?? index, nowUs, false);
  }

  #tellOrder(request: number, orderId: string | null, nowUs: number): void {
    if (orderId !== null) this.#orders?.heardOfOrder(request, orderId, nowUs);
  }

  /** Its row in the columns says all. */
  #isPlain(index: number, status: number, codeNumber: number): boolean {
    if (codeNumber === INVALID) return status === HTTP_STATUS_OF.INVALID && this.#plan.kind[index] === MALFORMED;
    if (codeNumber === PERMIT_INVALID) return status === HTTP_STATUS_OF.PERMIT_INVALID && IS_BOT[this.#plan.kind[index] ?? 0] === true;
    const refusal = REFUSAL_STATUS[codeNumber] ?? 0;
    return refusal !== 0 && refusal === status;
  }
}
