/**
 * Connections spread evenly over all gateways, handed out first-in first-out, so that each is used in turn and none idles into the server's keep-alive
 * timeout (a write that crosses the server's close would be one more indeterminate request that the system did not earn).
 *
 * Trying again is paced (CASES C46): a target that refused is tried by one connection at a time, every 10 ms at most, and the owner bounds all
 * attempts by the arrivals that were due. When it accepts again, its other connections follow a few per tick.
 */
import type { HostPort } from '../domain/role-config.js';
import type { HttpAnswer } from './http-answer.js';
import { HttpConnection, type ConnectionOwner } from './http-connection.js';
import { monoNowUs } from './mono-clock.js';

/** Between two attempts at a target that refused. */
export const RETRY_PACE_US = 10_000;
/** Connections to one target that may be on their way at once: below every listen backlog. */
const CONNECTING_MAX = 32;
/** Attempts of one call of `maintain` per target: about half a millisecond of work. */
const OPENED_PER_CALL_MAX = 8;
const CONNECT_TIMEOUT_US = 1_000_000;

export interface PoolListener {
  /** A connection can be acquired. */
  free(nowUs: number): void;
  answered(token: number, nowUs: number, askedUs: number, answer: HttpAnswer): void;
  /** Handed to a socket, and no answer: lost, unreadable, or past the deadline. */
  lost(token: number, nowUs: number, askedUs: number): void;
}

interface Target {
  readonly closed: HttpConnection[];
  connecting: number;
  connected: number;
  /** The last attempt was refused. */
  down: boolean;
  nextAttemptUs: number;
  /** Ring of idle connections. */
  readonly free: (HttpConnection | undefined)[];
  head: number;
  waiting: number;
}

export class ConnectionPool implements ConnectionOwner {
  /** Attempts since the pool was opened for the first time, without those of `open`. */
  attempts = 0;
  inFlight = 0;
  readonly #connections: HttpConnection[] = [];
  readonly #targets: Target[];
  readonly #listener: PoolListener;
  #next = 0;
  #lastRefusedUs = -Infinity;
  #openingEnds: (() => void) | null = null;

  constructor(targets: readonly HostPort[], connections: number, listener: PoolListener) {
    this.#listener = listener;
    this.#targets = targets.map(() => ({ closed: [], connecting: 0, connected: 0, down: false, nextAttemptUs: -Infinity, free: [], head: 0, waiting: 0 }));
    for (let index = 0; index < Math.max(connections, targets.length); index += 1) {
      const number = index % targets.length;
      const [target, address] = [this.#targets[number], targets[number]];
      if (target === undefined || address === undefined) throw new Error('a pool needs a target');
      const connection = new HttpConnection(number, address, this);
      this.#connections.push(connection);
      target.closed.push(connection);
      target.free.push(undefined);
    }
  }

  /** Opens every connection; a target that refuses one is left alone. Resolves when nothing is on its way. */
  async open(): Promise<void> {
    const before = this.attempts;
    await new Promise<void>((resolve) => {
      this.#openingEnds = resolve;
      this.#openMore();
    });
    this.#openingEnds = null;
    this.attempts = before;
  }

  /** Open connections per target. */
  connected(): number[] {
    return this.#targets.map((target) => target.connected);
  }

  /** A free connection of the next target that has one, or null. */
  acquire(): HttpConnection | null {
    const count = this.#targets.length;
    for (let tried = 0; tried < count; tried += 1) {
      const target = this.#targets[this.#next];
      this.#next = this.#next + 1 === count ? 0 : this.#next + 1;
      while (target !== undefined && target.waiting > 0) {
        const connection = target.free[target.head];
        target.head = target.head + 1 === target.free.length ? 0 : target.head + 1;
        target.waiting -= 1;
        if (connection === undefined) continue;
        connection.queued = false;
        // It may have been closed while it stood in line.
        if (connection.state === 'idle') return connection;
      }
    }
    return null;
  }

  send(connection: HttpConnection, text: string, token: number, nowUs: number, body: Buffer | null = null): void {
    this.inFlight += 1;
    connection.send(text, token, nowUs, body);
  }

  /** Opens what is closed, within the pace, as long as fewer than `attemptsAllowed` attempts were made in all. */
  maintain(nowUs: number, attemptsAllowed: number): void {
    for (const target of this.#targets) {
      let room = Math.min(OPENED_PER_CALL_MAX, CONNECTING_MAX - target.connecting);
      if (target.down) room = target.connecting === 0 && nowUs >= target.nextAttemptUs ? 1 : 0;
      for (; room > 0 && target.closed.length > 0 && this.attempts < attemptsAllowed; room -= 1) this.#attempt(target, nowUs);
    }
  }

  /** Gives up connections that wait too long: for an answer, or to be opened. */
  expire(nowUs: number, timeoutUs: number): void {
    for (const connection of this.#connections) {
      const waitedUs = nowUs - connection.sinceUs;
      if (connection.state === 'busy' ? waitedUs > timeoutUs : connection.state === 'connecting' && waitedUs > CONNECT_TIMEOUT_US) connection.abandon();
    }
  }

  /** When nothing is connected: the start of the latest attempt that was refused. Else −∞. */
  refusedAfterUs(): number {
    return this.#targets.some((target) => target.connected > 0) ? -Infinity : this.#lastRefusedUs;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  opened(connection: HttpConnection): void {
    const target = this.#targetOf(connection);
    target.connecting -= 1;
    target.connected += 1;
    target.down = false;
    this.#offer(target, connection);
    this.#listener.free(monoNowUs());
    this.#openMore();
  }

  refused(connection: HttpConnection): void {
    const target = this.#targetOf(connection);
    target.connecting -= 1;
    target.down = true;
    target.nextAttemptUs = connection.sinceUs + RETRY_PACE_US;
    target.closed.push(connection);
    this.#lastRefusedUs = Math.max(this.#lastRefusedUs, connection.sinceUs);
    this.#openMore();
  }

  gone(connection: HttpConnection): void {
    const target = this.#targetOf(connection);
    target.connected -= 1;
    target.closed.push(connection);
  }

  answered(connection: HttpConnection, token: number, nowUs: number, answer: HttpAnswer): void {
    this.inFlight -= 1;
    const target = this.#targetOf(connection);
    if (connection.state === 'idle') this.#offer(target, connection);
    else this.gone(connection);
    this.#listener.answered(token, nowUs, connection.sinceUs, answer);
    this.#listener.free(nowUs);
  }

  lost(connection: HttpConnection, token: number, nowUs: number): void {
    this.inFlight -= 1;
    this.gone(connection);
    this.#listener.lost(token, nowUs, connection.sinceUs);
  }

  #attempt(target: Target, nowUs: number): void {
    const connection = target.closed.pop();
    if (connection === undefined) return;
    this.attempts += 1;
    target.connecting += 1;
    connection.open(nowUs);
  }

  #openMore(): void {
    if (this.#openingEnds === null) return;
    for (const target of this.#targets) {
      while (!target.down && target.closed.length > 0 && target.connecting < CONNECTING_MAX) this.#attempt(target, monoNowUs());
    }
    if (this.#targets.every((target) => target.connecting === 0)) this.#openingEnds();
  }

  #offer(target: Target, connection: HttpConnection): void {
    if (connection.queued) return;
    connection.queued = true;
    target.free[(target.head + target.waiting) % target.free.length] = connection;
    target.waiting += 1;
  }

  #targetOf(connection: HttpConnection): Target {
    const target = this.#targets[connection.target];
    if (target === undefined) throw new Error(`no target ${String(connection.target)}`);
    return target;
  }
}
