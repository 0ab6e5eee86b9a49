/**
 * The payment channel as the system can ask it: what became of a payment, and refunds. It keeps books of the money that it took from the generator's payers and paid
 * back, and on purpose it is slow, silent, wrong or not done yet, by seeded shares. It pays back whatever it is asked to under a new key, also too much or twice: that the
 * system does not ask for it is what is being judged. The money moves before the answer does, so a refund that was never answered may well have been made.
 *
 *   GET  /v1/payments/:paymentId   200 with the trade · 404 nobody has paid
 *   POST /v1/refunds               200 REFUNDED or PENDING, idempotent by `refundId`
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import type { HostPort } from '../domain/role-config.js';
import { seededRandom } from '../facts/arrival-plan.js';
import type { ChannelBooks, ChannelCharge, ChannelRefund } from '../facts/channel-books.js';
import type { ChannelAnswers } from '../facts/load-spec.js';
import { monoNowUs } from './mono-clock.js';

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
  readonly #charges = new Map<string, ChannelCharge>();
  readonly #refunds: ChannelRefund[] = [];
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

  /** Money is taken, whatever becomes of the news of it. A trade that is known is the same money. */
  charge(charge: Omit<ChannelCharge, 'takenUs'>): void {
    if (!this.#charges.has(charge.tradeNo)) this.#charges.set(charge.tradeNo, { ...charge, takenUs: monoNowUs() });
  }

  /** All of it so far. */
  get books(): ChannelBooks {
    return { charges: [...this.#charges.values()], refunds: this.#refunds };
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
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const refund = request.method === 'POST' && path === '/v1/refunds' ? this.#refund(text) : null;
      if (draw < none) return;
      const answer = (): void => {
        if (refund !== null) reply(response, refund.status, refund.body);
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

  #refund(text: string): { readonly status: number; readonly body: object } {
    const asked = refundIn(text);
    if (asked === null) return { status: 400, body: {} };
    const isFirst = !this.#refundsAsked.has(asked.refundId);
    const known = this.#charges.has(asked.tradeNo);
    this.#refunds.push({ ...asked, askedUs: monoNowUs(), effect: !known ? 'refused' : isFirst ? 'paid-back' : 'repeated' });
    if (!known) return { status: 404, body: {} };
    this.#refundsAsked.add(asked.refundId);
    return { status: 200, body: { status: isFirst && this.#random() < this.#answers.refundPending ? 'PENDING' : 'REFUNDED' } };
  }
}

function refundIn(text: string): Pick<ChannelRefund, 'refundId' | 'tradeNo' | 'amount' | 'currency'> | null {
  try {
    const { refundId, tradeNo, amount, currency } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof refundId !== 'string' || typeof tradeNo !== 'string' || typeof currency !== 'string' || (typeof amount !== 'string' && typeof amount !== 'number')) return null;
    return { refundId, tradeNo, amount: String(amount), currency };
  } catch {
    return null;
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
}
