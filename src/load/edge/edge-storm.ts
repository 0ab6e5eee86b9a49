/**
 * The `edge` transport: an L7 edge in front of the gateways that carries many customers' requests per connection. Whoever is due at a beat of the clock goes into
 * one batch per free connection, at most 512 each, one batch in flight per connection. What a customer would wait for at his edge counts: latency runs from his
 * intended time until the whole answer of his batch is here.
 *
 * Arrivals are issued in order, so a batch is a range of the plan, and what waits for a free connection is one range too: [next, due). Each arrival of a batch has
 * the fate of a single request: answered, indeterminate when the batch is lost, `dropped` when no connection came free in time, `not-sent` when no gateway listens.
 */
import { BATCH_ITEMS_MAX } from '../../domain/batch-contract.js';
import type { HostPort } from '../../domain/role-config.js';
import { ConnectionPool } from '../connection-pool.js';
import type { AnswerDetails } from '../first-answers.js';
import { codeNumberOf, type HttpAnswer } from '../http-answer.js';
import { monoNowUs } from '../mono-clock.js';
import { Questions } from '../questions.js';
import type { Storm, StormParts } from '../storm.js';
import { readBinaryAnswers, readJsonAnswers, type EdgeAnswer, type OnEdgeAnswer } from './edge-answers.js';
import { edgeBodiesFor, type EdgeBodies } from './edge-bodies.js';

/** Token of batches that hold no arrivals. */
const REHEARSAL = -1;
const SWEEP_EVERY_US = 10_000;
/** Few, so that there are many batches: what is done once a batch, on both sides, takes hundreds of them to be compiled. */
const REHEARSAL_ITEMS = 16;
const NO_DETAILS: AnswerDetails = { orderId: () => null, location: () => null };

/** Details of the answer at hand. */
class DetailsAtHand implements AnswerDetails {
  answer: EdgeAnswer | null = null;

  orderId(): string | null {
    return this.answer?.orderId ?? null;
  }

  location(): string | null {
    return this.answer?.location ?? null;
  }
}

export class EdgeStorm implements Storm {
  offered = 0;
  readonly #parts: StormParts;
  readonly #bodies: EdgeBodies;
  readonly #pool: ConnectionPool;
  readonly #questions: Questions;
  readonly #timeoutUs: number;
  readonly #details = new DetailsAtHand();
  /** By the first arrival of a batch in flight, which is its token: the arrival after its last. */
  readonly #ends = new Map<number, number>();
  /** The first arrival that is neither issued nor dropped. */
  #next = 0;
  #rehearsal: { unsent: number; open: number; answered: number; readonly resolve: (answered: number) => void } | null = null;
  #aborted = false;
  #sweptUs = -Infinity;

  constructor(targets: readonly HostPort[], parts: StormParts) {
    this.#parts = parts;
    this.#bodies = edgeBodiesFor(targets, parts);
    this.#timeoutUs = parts.load.requestTimeoutMs * 1000;
    this.#questions = new Questions(targets, parts);
    this.#pool = new ConnectionPool(targets, parts.load.connections, {
      free: (nowUs) => {
        if (this.#rehearsal !== null) this.#rehearseMore(nowUs);
        if (this.#next < this.offered) this.#issue();
      },
      answered: (token, nowUs, _askedUs, answer) => {
        if (token === REHEARSAL) this.#rehearsed(answer.status === 200 ? this.#read(answer.body, () => undefined) : 0);
        else this.#answered(token, nowUs, answer);
      },
      lost: (token, nowUs) => {
        if (token === REHEARSAL) this.#rehearsed(0);
        else this.#lost(token, nowUs);
      },
    });
  }

  get finished(): boolean {
    return this.#aborted || (this.#next === this.#parts.plan.length && this.#pool.inFlight === 0);
  }

  async open(): Promise<readonly number[]> {
    await Promise.all([this.#pool.open(), this.#questions.open()]);
    const connected = this.#pool.connected();
    if (connected.every((count) => count === 0)) throw new Error('no gateway accepts a connection');
    return connected;
  }

  async rehearse(requests: number): Promise<number> {
    const batches = Math.ceil(requests / REHEARSAL_ITEMS);
    if (batches === 0) return 0;
    const deadline = setInterval(() => {
      this.#pool.expire(monoNowUs(), this.#timeoutUs);
    }, SWEEP_EVERY_US / 1000);
    const answered = await new Promise<number>((resolve) => {
      this.#rehearsal = { unsent: batches, open: batches, answered: 0, resolve };
      this.#rehearseMore(monoNowUs());
    });
    clearInterval(deadline);
    this.#rehearsal = null;
    return answered;
  }

  tick(nowUs: number): void {
    const { length } = this.#parts.plan;
    const { intendedUs } = this.#parts.recorder.columns;
    while (this.offered < length && (intendedUs[this.offered] ?? Infinity) <= nowUs) this.offered += 1;
    if (this.#next < this.offered) this.#issue();
    this.#pool.maintain(nowUs, this.offered);
    if (this.#next < this.offered) this.#giveUp(nowUs);
    if (nowUs - this.#sweptUs < SWEEP_EVERY_US) return;
    this.#sweptUs = nowUs;
    this.#pool.expire(nowUs, this.#timeoutUs);
  }

  tickFollowUps(nowUs: number, wanted: boolean): void {
    this.#questions.tick(nowUs, wanted);
  }

  ask(arrival: number, token: number, nowUs: number): boolean {
    return this.#questions.ask(arrival, token, nowUs);
  }

  gatewayMetrics(): null {
    return null;
  }

  abort(): void {
    this.#aborted = true;
    this.#next = this.#parts.plan.length;
    this.#pool.close();
  }

  async close(): Promise<void> {
    this.#pool.close();
    this.#questions.close();
    await Promise.resolve();
  }

  /** Puts what is due into batches on free connections, oldest first. */
  #issue(): void {
    const { recorder } = this.#parts;
    while (this.#next < this.offered) {
      const connection = this.#pool.acquire();
      if (connection === null) return;
      const from = this.#next;
      const to = Math.min(this.offered, from + BATCH_ITEMS_MAX);
      this.#next = to;
      this.#ends.set(from, to);
      const { text, body } = this.#bodies.request(connection.target, from, to);
      const nowUs = monoNowUs();
      for (let index = from; index < to; index += 1) recorder.sent(index, nowUs);
      this.#pool.send(connection, text, from, nowUs, body);
    }
  }

  #endOf(from: number): number {
    const to = this.#ends.get(from);
    if (to === undefined) throw new Error(`no batch in flight begins with arrival ${String(from)}`);
    this.#ends.delete(from);
    return to;
  }

  #answered(from: number, nowUs: number, { status, body }: HttpAnswer): void {
    const to = this.#endOf(from);
    if (status !== 200) {
      // The batch was refused as a whole: that is what each of its customers hears.
      const codeNumber = codeNumberOf(body);
      for (let index = from; index < to; index += 1) this.#parts.firstAnswers.answered(index, nowUs, status, codeNumber, null, NO_DETAILS);
      return;
    }
    const count = this.#read(body, (item, answer) => {
      if (from + item < to) this.#answeredOne(from + item, nowUs, answer);
    });
    if (count !== to - from) throw new Error(`a batch of ${String(to - from)} requests got ${String(count)} answers`);
  }

  #read(body: string, onAnswer: OnEdgeAnswer): number {
    return this.#parts.load.edgeForm === 'binary' ? readBinaryAnswers(body, onAnswer) : readJsonAnswers(body, onAnswer);
  }

  #answeredOne(index: number, nowUs: number, answer: EdgeAnswer): void {
    const { plan, firstAnswers } = this.#parts;
    // Somebody else's answer is no fact about this customer: nothing that this storm recorded could be believed.
    if (answer.requestNumber !== -1 && answer.requestNumber !== plan.requestOf[index]) {
      throw new Error(`the gateway gave arrival ${String(index)} the answer to request ${String(answer.requestNumber)} in place of ${String(plan.requestOf[index])}`);
    }
    this.#details.answer = answer;
    firstAnswers.answered(index, nowUs, answer.status, answer.codeNumber, answer.reservationId, this.#details);
  }

  #lost(from: number, nowUs: number): void {
    const to = this.#endOf(from);
    for (let index = from; index < to; index += 1) this.#parts.firstAnswers.lost(index, nowUs);
  }

  #rehearseMore(nowUs: number): void {
    const rehearsal = this.#rehearsal;
    while (rehearsal !== null && rehearsal.unsent > 0) {
      const connection = this.#pool.acquire();
      if (connection === null) return;
      const { text, body } = this.#bodies.malformed(connection.target, REHEARSAL_ITEMS);
      rehearsal.unsent -= 1;
      this.#pool.send(connection, text, REHEARSAL, nowUs, body);
    }
  }

  #rehearsed(answers: number): void {
    if (this.#rehearsal === null) return;
    this.#rehearsal.answered += answers;
    this.#rehearsal.open -= 1;
    if (this.#rehearsal.open === 0 || (this.#pool.inFlight === 0 && answers === 0)) this.#rehearsal.resolve(this.#rehearsal.answered);
  }

  /** Arrivals that have waited in vain. */
  #giveUp(nowUs: number): void {
    const { recorder } = this.#parts;
    const refusedAfterUs = this.#pool.refusedAfterUs();
    for (; this.#next < this.offered; this.#next += 1) {
      const intendedUs = recorder.columns.intendedUs[this.#next] ?? Infinity;
      if (intendedUs <= refusedAfterUs) recorder.notSent(this.#next);
      // A dropped arrival keeps the row it began with.
      else if (nowUs - intendedUs <= this.#timeoutUs) return;
    }
  }
}
