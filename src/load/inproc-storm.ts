/**
 * The `inproc` transport: the gateway's submit function called in the generator's own process, for rates that sockets cannot carry on a small machine
 * (LOAD §3a). What is measured is the system without its HTTP front, and the generator shares a thread with it: a slow submit shows as lateness.
 */
import type { Answer } from '../domain/answer.js';
import { requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import { ARRIVAL_KINDS, type ArrivalKind } from '../facts/load-spec.js';
import type { AnswerDetails } from './first-answers.js';
import { numberOfCode } from './http-answer.js';
import type { InprocAnswer, InprocGateway, InprocRequest } from './inproc-port.js';
import { monoNowUs } from './mono-clock.js';
import { bodyOf } from './request-text.js';
import type { Storm, StormParts } from './storm.js';

/** The clock is read again after so many calls of a burst. */
const CALLS_PER_READING = 16;
/** A burst longer than this lets the event loop turn, so that answers are heard. */
const BURST_US = 4_000;
const QUESTIONS_MAX = 64;
const SWEEP_EVERY_US = 10_000;

const BODY_OF_KIND = ARRIVAL_KINDS.map((kind: ArrivalKind) => bodyOf(kind));

/** Details of the answer at hand: read before the next one, so one object serves all. */
class DetailsAtHand implements AnswerDetails {
  answer: Answer | null = null;
  at: string | null = null;

  orderId(): string | null {
    return this.answer?.orderId ?? null;
  }

  location(): string | null {
    return this.at;
  }
}

export class InprocStorm implements Storm {
  offered = 0;
  readonly #parts: StormParts;
  readonly #gateway: InprocGateway;
  readonly #timeoutUs: number;
  #next = 0;
  /** All arrivals before this one have an answer or are past their deadline. */
  #oldestOpen = 0;
  #open = 0;
  /** 1: past its deadline, an answer that comes now is not heard any more. */
  readonly #expired: Uint8Array;
  #aborted = false;
  #burstWaits = false;
  #sweptUs = -Infinity;
  #questions = 0;
  readonly #details = new DetailsAtHand();

  constructor(gateway: InprocGateway, parts: StormParts) {
    this.#parts = parts;
    this.#gateway = gateway;
    this.#timeoutUs = parts.load.requestTimeoutMs * 1000;
    this.#expired = new Uint8Array(parts.plan.length);
  }

  get finished(): boolean {
    return this.#aborted || (this.#next === this.#parts.plan.length && this.#open === 0);
  }

  async open(): Promise<readonly number[]> {
    return Promise.resolve([]);
  }

  async rehearse(requests: number): Promise<number> {
    let answered = 0;
    for (let request = 0; request < requests; request += 1) {
      await this.#gateway.submit({ requestId: `rehearsal-${String(request)}`, userId: '1', body: bodyOf('malformed') });
      answered += 1;
    }
    return answered;
  }

  tick(nowUs: number): void {
    const { length } = this.#parts.plan;
    const { intendedUs } = this.#parts.recorder.columns;
    while (this.offered < length && (intendedUs[this.offered] ?? Infinity) <= nowUs) this.offered += 1;
    this.#issue(nowUs);
    if (nowUs - this.#sweptUs < SWEEP_EVERY_US) return;
    this.#sweptUs = nowUs;
    this.#expire(nowUs);
  }

  tickFollowUps(): void {
    // Questions are promises of the gateway, which bounds them itself.
  }

  ask(arrival: number, token: number, nowUs: number): boolean {
    if (this.#questions >= QUESTIONS_MAX) return false;
    this.#questions += 1;
    const { load, plan, followUps } = this.#parts;
    this.#gateway.query(requestIdAt(load, plan, arrival), userIdAt(plan, arrival)).then(
      ({ httpStatus, answer, location }) => {
        this.#questions -= 1;
        const { reservationId, orderId } = answer;
        followUps.heard(token, nowUs, monoNowUs(), { status: httpStatus, codeNumber: numberOfCode(answer.code), reservationId, orderId, location });
      },
      () => {
        this.#questions -= 1;
        followUps.unanswered(token, monoNowUs());
      },
    );
    return true;
  }

  abort(): void {
    this.#aborted = true;
    this.#next = this.#parts.plan.length;
    this.#expired.fill(1);
  }

  gatewayMetrics(): Promise<string> {
    return this.#gateway.metricsText();
  }

  async close(): Promise<void> {
    await this.#gateway.close();
  }

  #issue(startUs: number): void {
    const { load, plan, recorder, permits } = this.#parts;
    let nowUs = startUs;
    for (let calls = 1; this.#next < this.offered; calls += 1) {
      const index = this.#next;
      this.#next += 1;
      recorder.sent(index, nowUs);
      this.#submit(index, { requestId: requestIdAt(load, plan, index), userId: userIdAt(plan, index), body: BODY_OF_KIND[plan.kind[index] ?? 0] ?? '', ...permits.shownAt(index) });
      if (calls % CALLS_PER_READING !== 0) continue;
      nowUs = monoNowUs();
      if (nowUs - startUs < BURST_US) continue;
      this.#continueSoon();
      return;
    }
  }

  #continueSoon(): void {
    if (this.#burstWaits) return;
    this.#burstWaits = true;
    setImmediate(() => {
      this.#burstWaits = false;
      this.#issue(monoNowUs());
    });
  }

  #submit(index: number, request: InprocRequest): void {
    this.#open += 1;
    const answer = this.#gateway.submit(request);
    if (!(answer instanceof Promise)) {
      this.#answered(index, answer);
      return;
    }
    answer.then(
      (late) => {
        this.#answered(index, late);
      },
      () => {
        this.#lost(index);
      },
    );
  }

  #answered(index: number, { httpStatus, answer, location }: InprocAnswer): void {
    if (this.#expired[index] === 1) return;
    this.#open -= 1;
    this.#details.answer = answer;
    this.#details.at = location;
    this.#parts.firstAnswers.answered(index, monoNowUs(), httpStatus, numberOfCode(answer.code), answer.reservationId, this.#details);
  }

  #lost(index: number): void {
    if (this.#expired[index] === 1) return;
    this.#expired[index] = 1;
    this.#open -= 1;
    this.#parts.firstAnswers.lost(index, monoNowUs());
  }

  /** Ends the waiting of arrivals past their deadline; they were sent in order, so the oldest are looked at first. */
  #expire(nowUs: number): void {
    const { answeredUs, sentUs } = this.#parts.recorder.columns;
    for (; this.#oldestOpen < this.#next; this.#oldestOpen += 1) {
      const index = this.#oldestOpen;
      const isOpen = Number.isNaN(answeredUs[index] ?? NaN) && this.#expired[index] === 0;
      if (!isOpen) continue;
      if (nowUs - (sentUs[index] ?? NaN) <= this.#timeoutUs) return;
      this.#lost(index);
    }
  }
}
