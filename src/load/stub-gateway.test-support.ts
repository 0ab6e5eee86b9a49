/** A gateway for the generator's tests: speaks HTTP/1.1 at depth 1 over raw sockets, so that tests can answer late, half, or not at all. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import type { HostPort } from '../domain/role-config.js';
import type { AnswerCode } from '../domain/reason-codes.js';
import { HTTP_STATUS_OF } from '../domain/answer.js';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly userId: string;
  readonly body: string;
  /** Ordinal among the POSTs of all connections, from 1. */
  readonly number: number;
  readonly socket: Socket;
  answer(code: AnswerCode, fields?: { status?: number; reservationId?: string; orderId?: string; location?: string }): void;
}

export function answerText(code: AnswerCode, fields: { status?: number; requestId?: string; reservationId?: string; orderId?: string; location?: string } = {}): string {
  const body = JSON.stringify({
    code,
    requestId: fields.requestId ?? null,
    reservationId: fields.reservationId ?? null,
    orderId: fields.orderId ?? null,
    reason: null,
    problems: [],
    retryAfterMs: null,
  });
  const location = fields.location === undefined ? '' : `Location: ${fields.location}\r\n`;
  return `HTTP/1.1 ${String(fields.status ?? HTTP_STATUS_OF[code])} X\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n${location}\r\n${body}`;
}

export class StubGateway {
  readonly address: HostPort;
  /** POSTs so far. */
  requests = 0;
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  /** `query` answers the GETs of follow-up clients; by default nothing is found yet. */
  static async start(handle: (request: StubRequest) => void, port = 0, query: (request: StubRequest) => void = (request) => request.answer('NOT_FOUND_YET')): Promise<StubGateway> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: '127.0.0.1', backlog: 4096 }, resolve);
    });
    const stub = new StubGateway(server);
    server.on('connection', (socket) => {
      stub.#accept(socket, (request) => (request.method === 'GET' ? query(request) : handle(request)));
    });
    return stub;
  }

  /** As a killed process: no listener, every connection gone. */
  kill(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  #accept(socket: Socket, handle: (request: StubRequest) => void): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      const [method = '', path = ''] = text.split(' ', 2);
      if (method === 'POST') this.requests += 1;
      const requestId = /\r\nIdempotency-Key: ([^\r]*)/.exec(text)?.[1] ?? path.split('/').at(-1) ?? '';
      handle({
        method,
        path,
        requestId,
        userId: /\r\nX-User-Id: ([^\r]*)/.exec(text)?.[1] ?? '',
        body: text.slice(text.indexOf('\r\n\r\n') + 4),
        number: this.requests,
        socket,
        answer: (code, fields = {}) => socket.write(answerText(code, { requestId, ...fields })),
      });
    });
  }
}

/** An address that refuses: it was free a moment ago. */
export async function refusingAddress(): Promise<HostPort> {
  const stub = await StubGateway.start(() => undefined);
  await stub.kill();
  return stub.address;
}
