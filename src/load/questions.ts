/** The sockets of the follow-up clients, apart from those of the storm: they ask for their Locations one question per connection at a time. */
import { requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import type { HostPort } from '../domain/role-config.js';
import { ConnectionPool } from './connection-pool.js';
import { codeNumberOf, locationOf, orderIdOf, reservationIdOf } from './http-answer.js';
import { requestTextsFor, type RequestTexts } from './request-text.js';
import type { StormParts } from './storm.js';

/** 2,000 polls a second at up to 16 ms each. */
const CONNECTIONS = 32;
/** All connections are looked at for deadlines this often. */
const SWEEP_EVERY_US = 10_000;

export class Questions {
  readonly #parts: StormParts;
  readonly #texts: readonly RequestTexts[];
  readonly #pool: ConnectionPool;
  readonly #timeoutUs: number;
  #sweptUs = -Infinity;

  constructor(targets: readonly HostPort[], parts: StormParts) {
    this.#parts = parts;
    this.#texts = targets.map((target) => requestTextsFor(target, parts.load));
    this.#timeoutUs = parts.load.requestTimeoutMs * 1000;
    this.#pool = new ConnectionPool(targets, CONNECTIONS, {
      free: () => undefined,
      answered: (token, nowUs, askedUs, { status, head, body }) => {
        const told = { status, codeNumber: codeNumberOf(body), reservationId: reservationIdOf(body), orderId: orderIdOf(body), location: locationOf(head) };
        parts.followUps.heard(token, askedUs, nowUs, told);
      },
      lost: (token, nowUs) => {
        parts.followUps.unanswered(token, nowUs);
      },
    });
  }

  open(): Promise<void> {
    return this.#pool.open();
  }

  /** As `Storm.tickFollowUps`. */
  tick(nowUs: number, wanted: boolean): void {
    if (wanted) this.#pool.maintain(nowUs, Infinity);
    if (nowUs - this.#sweptUs < SWEEP_EVERY_US) return;
    this.#sweptUs = nowUs;
    this.#pool.expire(nowUs, this.#timeoutUs);
  }

  /** As `Asker.ask`. */
  ask(arrival: number, token: number, nowUs: number): boolean {
    const connection = this.#pool.acquire();
    const text = connection === null ? undefined : this.#texts[connection.target];
    if (connection === null || text === undefined) return false;
    const { load, plan } = this.#parts;
    this.#pool.send(connection, text.query(requestIdAt(load, plan, arrival), userIdAt(plan, arrival)), token, nowUs);
    return true;
  }

  close(): void {
    this.#pool.close();
  }
}
