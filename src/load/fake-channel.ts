/**
 * The payment channel as the system can ask it: what became of a payment, and refunds. It knows the money that it took from the generator's payers, and on purpose it is
 * slow, silent, wrong or not done yet, by seeded shares.
 *
 *   GET  /v1/payments/:paymentId   200 with the trade · 404 nobody has paid
 *   POST /v1/refunds               200 REFUNDED or PENDING, idempotent by `refundId`
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import type { HostPort } from '../domain/role-config.js';
import { seededRandom } from '../facts/arrival-plan.js';
import type { ChannelAnswers } from '../facts/load-spec.js';

export interface Trade {
  readonly tradeNo: string;
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
  /** It calls back about this trade, or has done so: then it may contradict itself. */
  readonly callsBack: boolean;
}

/** Longer than anybody waits for it. */
const SLOW_MS = 3_000;

export class FakeChannel {
  readonly #answers: ChannelAnswers;
  readonly #random: () => number;
  readonly #trades = new Map<string, Trade>();
  readonly #refundsAsked = new Set<string>();
  readonly #server = createServer((request, response) => {
    this.#read(request, response);
  });
  #onTold: (paymentId: string) => void = () => undefined;

  constructor(answers: ChannelAnswers, seed: number) {
    this.#answers = answers;
    this.#random = seededRandom(seed);
  }

  /** Called whenever somebody who asked was told of money. */
  set onTold(listener: (paymentId: string) => void) {
    this.#onTold = listener;
  }

  /** Rejects when the address is taken. */
  listen({ host, port }: HostPort): Promise<HostPort> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        const bound = this.#server.address();
        resolve({ host, port: typeof bound === 'object' && bound !== null ? bound.port : port });
      });
    });
  }

  /** The money for this payment is taken: from here on it says so when it is asked. A second trade for a payment is not this payment's. */
  took(paymentId: string, trade: Trade): void {
    if (!this.#trades.has(paymentId)) this.#trades.set(paymentId, trade);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #read(request: IncomingMessage, response: ServerResponse): void {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const { slow, none } = this.#answers;
      const draw = this.#random();
      if (draw < none) return;
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const answer = (): void => {
        if (request.method === 'POST' && path === '/v1/refunds') this.#refund(text, response);
        else if (request.method === 'GET' && path.startsWith('/v1/payments/')) this.#tell(decodeURIComponent(path.slice('/v1/payments/'.length)), response);
        else reply(response, 404, {});
      };
      if (draw < none + slow) setTimeout(answer, SLOW_MS).unref();
      else answer();
    });
  }

  #tell(paymentId: string, response: ServerResponse): void {
    const trade = this.#trades.get(paymentId);
    if (trade === undefined) {
      reply(response, 404, {});
      return;
    }
    const { callsBack, ...rest } = trade;
    const lies = callsBack && this.#random() < this.#answers.contradictory;
    reply(response, 200, { status: lies ? 'FAILED' : 'SUCCEEDED', ...rest });
    if (!lies && !response.destroyed) this.#onTold(paymentId);
  }

  #refund(text: string, response: ServerResponse): void {
    const refundId = refundIdOf(text);
    if (refundId === null) {
      reply(response, 400, {});
      return;
    }
    const isFirst = !this.#refundsAsked.has(refundId);
    this.#refundsAsked.add(refundId);
    reply(response, 200, { status: isFirst && this.#random() < this.#answers.refundPending ? 'PENDING' : 'REFUNDED' });
  }
}

function refundIdOf(text: string): string | null {
  try {
    const { refundId } = JSON.parse(text) as { refundId?: unknown };
    return typeof refundId === 'string' ? refundId : null;
  } catch {
    return null;
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
}
