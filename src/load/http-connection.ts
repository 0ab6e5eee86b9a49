/**
 * One keep-alive connection to a gateway, one request at a time. Never reconnects by itself: when to try again is the pool's decision.
 *
 * What the owner may conclude: `refused` = nothing was ever written. `lost` = a request was handed to the socket and no answer came, so it may have had
 * its effect, even when the socket turned out to be dead (its death may have been on the way after the write).
 */
import { connect, type Socket } from 'node:net';

import type { HostPort } from '../domain/role-config.js';
import { parseHttpAnswer, type HttpAnswer } from './http-answer.js';
import { monoNowUs } from './mono-clock.js';

export interface ConnectionOwner {
  opened(connection: HttpConnection): void;
  refused(connection: HttpConnection): void;
  /** Closed while it had nothing to do. */
  gone(connection: HttpConnection): void;
  /** The connection is idle again, or closed when the answer says so. */
  answered(connection: HttpConnection, token: number, nowUs: number, answer: HttpAnswer): void;
  /** The connection is closed. */
  lost(connection: HttpConnection, token: number, nowUs: number): void;
}

/** Shared by all connections: a read callback runs to its end before the next one begins. */
const READ_BUFFER = Buffer.allocUnsafe(65_536);

export class HttpConnection {
  state: 'closed' | 'connecting' | 'idle' | 'busy' = 'closed';
  /** Start of the last attempt, or time of the last write. */
  sinceUs = 0;
  /** Stands in the pool's ring of free connections. */
  queued = false;
  readonly target: number;
  readonly #address: HostPort;
  readonly #owner: ConnectionOwner;
  #socket: Socket | null = null;
  #token = -1;
  #partial = '';

  constructor(target: number, address: HostPort, owner: ConnectionOwner) {
    this.target = target;
    this.#address = address;
    this.#owner = owner;
  }

  open(nowUs: number): void {
    this.state = 'connecting';
    this.sinceUs = nowUs;
    this.#partial = '';
    const socket = connect({
      host: this.#address.host,
      port: this.#address.port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (bytes) => {
          if (this.#socket === socket) this.#read(READ_BUFFER.toString('latin1', 0, bytes));
          return true;
        },
      },
    });
    this.#socket = socket;
    socket.on('connect', () => {
      if (this.#socket !== socket) return;
      this.state = 'idle';
      this.#owner.opened(this);
    });
    socket.on('end', () => {
      if (this.#socket === socket) this.#fail();
    });
    // `close` follows every error.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket === socket) this.#fail();
    });
  }

  /** Only on an idle connection. `body`: bytes that follow the text, in the same system call. */
  send(text: string, token: number, nowUs: number, body: Buffer | null = null): void {
    this.state = 'busy';
    this.sinceUs = nowUs;
    this.#token = token;
    const socket = this.#socket;
    if (socket === null) return;
    if (body === null) {
      socket.write(text, 'latin1');
      return;
    }
    socket.cork();
    socket.write(text, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Gives up on what it is doing and tells the owner, as if the other side had closed it. */
  abandon(): void {
    if (this.#socket !== null) this.#fail();
  }

  /** Closes without a word to the owner. */
  close(): void {
    this.state = 'closed';
    const socket = this.#socket;
    this.#socket = null;
    socket?.destroy();
  }

  #fail(): void {
    const was = this.state;
    this.close();
    if (was === 'connecting') this.#owner.refused(this);
    else if (was === 'busy') this.#owner.lost(this, this.#token, monoNowUs());
    else this.#owner.gone(this);
  }

  #read(chunk: string): void {
    // An idle server speaks only to complain (408) before it closes.
    if (this.state !== 'busy') return this.#fail();
    const text = this.#partial === '' ? chunk : this.#partial + chunk;
    const answer = parseHttpAnswer(text);
    if (answer === 'incomplete') {
      this.#partial = text;
      return;
    }
    if (answer === 'broken') return this.#fail();
    this.#partial = '';
    if (answer.closes) this.close();
    else this.state = 'idle';
    this.#owner.answered(this, this.#token, monoNowUs(), answer);
  }
}
