/**
 * The `http` transport: what real clients do, one request per connection at a time.
 *
 * Arrivals are issued in order, so those that wait for a free connection are one range of the plan: [next, due). An arrival that is due goes to the next
 * free connection of any gateway; without one it waits, its latency counting, until one comes free, until its request timeout has
 * passed (`dropped`), or, when no gateway is connected, until an attempt that began after it was due has been refused (`not-sent`).
 */
import { requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import { ARRIVAL_KINDS } from '../facts/load-spec.js';
import type { HostPort } from '../domain/role-config.js';
import { ConnectionPool } from './connection-pool.js';
import { codeNumberOf, locationOf, orderIdOf, reservationIdOf, type HttpAnswer } from './http-answer.js';
import { monoNowUs } from './mono-clock.js';
import { Questions } from './questions.js';
import { requestTextsFor, type RequestTexts } from './request-text.js';
import type { Storm, StormParts } from './storm.js';

/** Token of requests that are no arrivals. */
const REHEARSAL = -1;
/** All connections are looked at for deadlines this often. */
const SWEEP_EVERY_US = 10_000;

export class HttpStorm implements Storm {
  offered = 0;
  readonly #parts: StormParts;
  readonly #texts: readonly RequestTexts[];
  readonly #pool: ConnectionPool;
  readonly #questions: Questions;
  readonly #timeoutUs: number;
  /** The first arrival that is neither issued nor dropped. */
  #next = 0;
  #rehearsal: { unsent: number; open: number; answered: number; readonly resolve: (answered: number) => void } | null = null;
  #aborted = false;
  #sweptUs = -Infinity;

  constructor(targets: readonly HostPort[], parts: StormParts) {
    this.#parts = parts;
    this.#texts = targets.map((target) => requestTextsFor(target, parts.load));
    this.#timeoutUs = parts.load.requestTimeoutMs * 1000;
    this.#pool = new ConnectionPool(targets, parts.load.connections, {
      free: (nowUs) => {
        if (this.#rehearsal !== null) this.#rehearseMore(nowUs);
        if (this.#next < this.offered) this.#issue(nowUs);
      },
      answered: (index, nowUs, _askedUs, answer) => {
        if (index === REHEARSAL) this.#rehearsed(1);
        else parts.firstAnswers.answered(index, nowUs, answer.status, codeNumberOf(answer.body), reservationIdOf(answer.body), detailsOf(answer));
      },
      lost: (index, nowUs) => {
        if (index === REHEARSAL) this.#rehearsed(0);
        else parts.firstAnswers.lost(index, nowUs);
      },
    });
    this.#questions = new Questions(targets, parts);
  }

  /** Connection attempts since the start of the storm. */
  get attempts(): number {
    return this.#pool.attempts;
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
    if (requests === 0) return 0;
    const deadline = setInterval(() => {
      this.#pool.expire(monoNowUs(), this.#timeoutUs);
    }, SWEEP_EVERY_US / 1000);
    const answered = await new Promise<number>((resolve) => {
      this.#rehearsal = { unsent: requests, open: requests, answered: 0, resolve };
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
    if (this.#next < this.offered) this.#issue(nowUs);
    // Attempts stay within the schedule: never more than arrivals were due (CASES C46).
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

  /** Hands arrivals that are due to free connections, oldest first. */
  #issue(startUs: number): void {
    const { load, plan, recorder, permits } = this.#parts;
    let nowUs = startUs;
    while (this.#next < this.offered) {
      const connection = this.#pool.acquire();
      if (connection === null) return;
      const index = this.#next;
      this.#next += 1;
      const kind = ARRIVAL_KINDS[plan.kind[index] ?? 0] ?? 'fresh';
      const text = this.#textsOf(connection.target).reserve(kind, requestIdAt(load, plan, index), userIdAt(plan, index), permits.headersAt(index));
      // One write takes about 10 µs, so a tick's first reading would flatter the last of a burst.
      nowUs = monoNowUs();
      recorder.sent(index, nowUs);
      this.#pool.send(connection, text, index, nowUs);
    }
  }

  #rehearseMore(nowUs: number): void {
    const rehearsal = this.#rehearsal;
    while (rehearsal !== null && rehearsal.unsent > 0) {
      const connection = this.#pool.acquire();
      if (connection === null) return;
      const text = this.#textsOf(connection.target).reserve('malformed', `rehearsal-${String(rehearsal.unsent)}`, '1', '');
      rehearsal.unsent -= 1;
      this.#pool.send(connection, text, REHEARSAL, nowUs);
    }
  }

  #rehearsed(answers: number): void {
    if (this.#rehearsal === null) return;
    this.#rehearsal.answered += answers;
    // A lost connection is not opened again before the start, so one request less can be sent for each.
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

  #textsOf(target: number): RequestTexts {
    const texts = this.#texts[target];
    if (texts === undefined) throw new Error(`no target ${String(target)}`);
    return texts;
  }
}

function detailsOf(answer: HttpAnswer): { orderId(): string | null; location(): string | null } {
  return { orderId: () => orderIdOf(answer.body), location: () => locationOf(answer.head) };
}
