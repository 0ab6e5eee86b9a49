/**
 * The clients that come back: each accepted or unknown request asks its Location every `pollIntervalMs` until it hears a final state, at most
 * `pollsMax` times, and once more after settling. All together ask no more often than a bound, in the order in which they fell due, so that
 * asking does not become a storm of its own.
 */
import { requestIdAt, userIdAt, type ArrivalPlan } from '../facts/arrival-plan.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { codeOfNumber, isFinalCode, numberOfCode } from './http-answer.js';
import type { TellingsFile } from './tellings-file.js';

export interface ToldAnswer {
  readonly status: number;
  readonly codeNumber: number;
  readonly reservationId: string | null;
  readonly orderId: string | null;
  readonly location: string | null;
}

/** Wants to know which requests have an order. Told again and again. */
export interface OrderListener {
  heardOfOrder(arrival: number, orderId: string, nowUs: number): void;
}

/** How a question reaches the gateway. */
export interface Asker {
  /** Asks for the request of this arrival; false: nobody is free to ask. The outcome comes back through `heard` or `unanswered` with the token. */
  ask(arrival: number, token: number, nowUs: number): boolean;
}

/** A poll that gets no answer in the last round is asked again, so often in all. */
const FINAL_TRIES = 3;

const ORDERED = numberOfCode('ORDERED');
const FOLLOWED = 1;
const SETTLED = 2;

/** First-in first-out of arrival indices with the time each is due. */
class DueQueue {
  #arrivals: number[] = [];
  #dueUs: number[] = [];
  #head = 0;

  push(arrival: number, dueUs: number): void {
    this.#arrivals.push(arrival);
    this.#dueUs.push(dueUs);
  }

  /** The next arrival due, or null. Stays until `shift`. */
  peek(nowUs: number): number | null {
    if (this.#head === this.#arrivals.length || (this.#dueUs[this.#head] ?? 0) > nowUs) return null;
    return this.#arrivals[this.#head] ?? null;
  }

  get length(): number {
    return this.#arrivals.length - this.#head;
  }

  shift(): void {
    this.#head += 1;
    // Give the memory of the past back now and then.
    if (this.#head < 4096 || this.#head * 2 < this.#arrivals.length) return;
    this.#arrivals = this.#arrivals.slice(this.#head);
    this.#dueUs = this.#dueUs.slice(this.#head);
    this.#head = 0;
  }

  clear(): void {
    this.#arrivals = [];
    this.#dueUs = [];
    this.#head = 0;
  }
}

export class FollowUps {
  readonly #load: LoadSpec;
  readonly #plan: ArrivalPlan;
  readonly #tellings: Pick<TellingsFile, 'tell'>;
  readonly #perSecondMax: number;
  readonly #orders: OrderListener | null;
  /** By arrival that made the request: 0, `FOLLOWED`, or `SETTLED` after a final state. */
  readonly #state: Uint8Array;
  readonly #polls: Uint16Array;
  readonly #followed: number[] = [];
  readonly #queue = new DueQueue();
  #allowance = 0;
  /** Polls under way. */
  #asked = 0;
  #lastTickUs = NaN;
  /** The last round, once it has begun. */
  #final: { open: number; unanswered: number; readonly endsUs: number; readonly resolve: (unanswered: number) => void } | null = null;

  constructor(parts: { load: LoadSpec; plan: ArrivalPlan; tellings: Pick<TellingsFile, 'tell'>; pollsPerSecondMax: number; orders?: OrderListener | null }) {
    this.#load = parts.load;
    this.#plan = parts.plan;
    this.#tellings = parts.tellings;
    this.#perSecondMax = parts.pollsPerSecondMax;
    this.#orders = parts.orders ?? null;
    this.#state = new Uint8Array(parts.plan.length);
    this.#polls = new Uint16Array(parts.plan.length);
  }

  /** Requests that will still be asked about, the last round aside. */
  get unfinished(): number {
    return this.#queue.length + this.#asked;
  }

  /** Begins to follow a request, by the arrival that made it. `settled`: its state is final already, so only the last round asks. */
  follow(request: number, nowUs: number, settled: boolean): void {
    if (this.#state[request] === SETTLED) return;
    if (this.#state[request] === 0) {
      this.#followed.push(request);
      if (!settled) this.#queueAgain(request, nowUs);
    }
    this.#state[request] = settled ? SETTLED : FOLLOWED;
  }

  /** Asks what is due and allowed. Returns true when something is due and nobody was free to ask it. */
  tick(nowUs: number, asker: Asker): boolean {
    if (this.#final !== null && nowUs > this.#final.endsUs) this.#endFinal();
    const elapsedUs = Number.isNaN(this.#lastTickUs) ? 0 : nowUs - this.#lastTickUs;
    this.#lastTickUs = nowUs;
    // At most a twentieth of a second's worth at once, however long the last tick is ago.
    this.#allowance = Math.min(this.#allowance + (elapsedUs * this.#perSecondMax) / 1e6, Math.max(1, this.#perSecondMax / 20));
    for (;;) {
      const request = this.#queue.peek(nowUs);
      if (request === null) return false;
      if (this.#final === null) {
        if (this.#state[request] === SETTLED) {
          this.#queue.shift();
          continue;
        }
        if (this.#allowance < 1) return false;
      }
      // Odd tokens belong to the last round.
      if (!asker.ask(request, request * 2 + (this.#final === null ? 0 : 1), nowUs)) return true;
      this.#queue.shift();
      this.#allowance -= 1;
      this.#asked += 1;
    }
  }

  heard(token: number, askedUs: number, nowUs: number, told: ToldAnswer): void {
    const request = Math.floor(token / 2);
    const isFinalRound = token % 2 === 1;
    this.#asked -= 1;
    if (isFinalCode(told.codeNumber)) this.#state[request] = SETTLED;
    if (told.codeNumber === ORDERED && told.orderId !== null) this.#orders?.heardOfOrder(request, told.orderId, nowUs);
    this.#tellings.tell({
      kind: isFinalRound ? 'final-poll' : 'poll',
      arrival: request,
      requestId: requestIdAt(this.#load, this.#plan, request),
      userId: userIdAt(this.#plan, request),
      askedUs,
      answeredUs: nowUs,
      httpStatus: told.status,
      code: codeOfNumber(told.codeNumber),
      reservationId: told.reservationId,
      orderId: told.orderId,
      location: told.location,
    });
    if (isFinalRound) this.#closeFinal(1);
    else if (this.#final === null) this.#queueAgain(request, nowUs);
  }

  unanswered(token: number, nowUs: number): void {
    const request = Math.floor(token / 2);
    this.#asked -= 1;
    if (token % 2 === 0) {
      if (this.#final === null) this.#queueAgain(request, nowUs);
      return;
    }
    if (this.#final === null) return;
    const tries = (this.#polls[request] ?? 0) + 1;
    this.#polls[request] = tries;
    if (tries < FINAL_TRIES) {
      this.#queue.push(request, nowUs);
      return;
    }
    this.#final.unanswered += 1;
    this.#closeFinal(1);
  }

  /** The last round: every followed request once, as fast as it is answered, at most until `timeoutMs` from now. Polls stop for good. */
  async settle(nowUs: number, timeoutMs: number): Promise<{ asked: number; unanswered: number }> {
    this.#queue.clear();
    this.#polls.fill(0);
    for (const request of this.#followed) this.#queue.push(request, -Infinity);
    const asked = this.#followed.length;
    const unanswered = await new Promise<number>((resolve) => {
      this.#final = { open: asked, unanswered: 0, endsUs: nowUs + timeoutMs * 1000, resolve };
      if (asked === 0) resolve(0);
    });
    return { asked, unanswered };
  }

  #queueAgain(request: number, nowUs: number): void {
    const polls = this.#polls[request] ?? 0;
    if (this.#state[request] === SETTLED || polls >= this.#load.pollsMax) return;
    this.#polls[request] = polls + 1;
    this.#queue.push(request, nowUs + this.#load.pollIntervalMs * 1000);
  }

  #closeFinal(count: number): void {
    if (this.#final === null || this.#final.open === 0) return;
    this.#final.open -= count;
    if (this.#final.open === 0) this.#final.resolve(this.#final.unanswered);
  }

  /** Out of time: what is still open counts as unanswered. */
  #endFinal(): void {
    if (this.#final === null || this.#final.open === 0) return;
    this.#final.unanswered += this.#final.open;
    this.#queue.clear();
    this.#closeFinal(this.#final.open);
  }
}
