/**
 * A payment channel for tests of the composed roles: a seeded HTTP server that takes payments, tells of them by callbacks, answers queries and pays back, and that can
 * be slow, silent or contradictory. What a payment meets depends on the seed and its id alone, so that a run can be repeated.
 *
 *   POST /v1/pay        `{"provider","paymentId","orderId","amount","currency"}`   200 `{"tradeNo","status"}`; the callbacks follow
 *   GET  /v1/payments/:paymentId                                               200 `{"status","tradeNo","orderId","amount","currency"}` · 404
 *   POST /v1/refunds    `{"provider","refundId","tradeNo","amount","currency"}`    200 `{"status":"REFUNDED"}`, once per refundId · 404 unknown trade
 *   GET  /v1/trades     every trade with what was paid back: the channel's own books
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { PAYMENT_CALLBACKS_PATH, signedText, type CallbackStatus, type PaymentCallback } from '../../domain/payment-contract.js';
import type { HostPort } from '../../domain/role-config.js';

/** Shares of all payments, 0…1; each draw is its own. */
export interface ChannelTemper {
  readonly failedShare: number;
  /** No callback ever comes: only a query tells. */
  readonly silentShare: number;
  /** The opposite of the first callback follows it. */
  readonly contradictoryShare: number;
  /** Callbacks that come twice, with another callback id. */
  readonly repeatedShare: number;
  /** Answers of queries and refunds that come this late. */
  readonly slowShare: number;
  readonly slowMs: number;
  /** Queries and refunds whose first call is never answered. */
  readonly muteShare: number;
  /** Least wait between the payment and its first callback; up to as long again at random. */
  readonly callbackAfterMs: number;
}

export const FRIENDLY_CHANNEL: ChannelTemper = {
  failedShare: 0, silentShare: 0, contradictoryShare: 0, repeatedShare: 0, slowShare: 0, slowMs: 0, muteShare: 0, callbackAfterMs: 0,
};

export interface FakeChannelOptions {
  readonly seed: number;
  readonly temper: ChannelTemper;
  /** Payment roles that hear the callbacks. */
  readonly listeners: readonly HostPort[];
  readonly secret: string | null;
  /** 127.0.0.1 and port 0 for any. */
  readonly listen: HostPort;
}

export interface Trade {
  readonly tradeNo: string;
  readonly provider: string;
  readonly paymentId: string;
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: CallbackStatus;
  /** Different refund ids under which it was paid back: more than one is money lost. */
  refunds: string[];
  /** Callbacks that were answered 2xx. */
  callbacksTaken: number;
}

export interface FakePaymentChannel {
  readonly address: HostPort;
  trades(): readonly Trade[];
  /** Callbacks that no listener has taken yet. */
  pendingCallbacks(): number;
  close(): Promise<void>;
}

const CALLBACK_RETRY_MS = 300;
const CALLBACK_TIMEOUT_MS = 3_000;

class Channel {
  readonly byPayment = new Map<string, Trade>();
  readonly byTrade = new Map<string, Trade>();
  readonly #options: FakeChannelOptions;
  readonly #mutedOnce = new Set<string>();
  readonly #closing = new AbortController();
  readonly #telling = new Set<Promise<void>>();

  constructor(options: FakeChannelOptions) {
    this.#options = options;
  }

  get telling(): number {
    return this.#telling.size;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#telling);
  }

  /** 0…1 by seed, id and purpose: the same in every run. */
  #draw(id: string, purpose: string): number {
    return createHash('sha256').update(`${String(this.#options.seed)}:${purpose}:${id}`).digest().readUInt32BE(0) / 2 ** 32;
  }

  pay(asked: Pick<Trade, 'provider' | 'paymentId' | 'orderId' | 'amount' | 'currency'>): Trade {
    const known = this.byPayment.get(asked.paymentId);
    if (known !== undefined) return known;
    const { temper } = this.#options;
    const status = this.#draw(asked.paymentId, 'failed') < temper.failedShare ? 'FAILED' : 'SUCCEEDED';
    const { provider, paymentId, orderId, amount, currency } = asked;
    const trade: Trade = { tradeNo: `T-${paymentId}`, provider, paymentId, orderId, amount, currency, status, refunds: [], callbacksTaken: 0 };
    this.byPayment.set(paymentId, trade);
    this.byTrade.set(trade.tradeNo, trade);
    if (this.#draw(paymentId, 'silent') >= temper.silentShare) {
      const telling = this.#tellAll(trade).catch(() => undefined).finally(() => this.#telling.delete(telling));
      this.#telling.add(telling);
    }
    return trade;
  }

  async #tellAll(trade: Trade): Promise<void> {
    const { temper } = this.#options;
    const { paymentId } = trade;
    await this.#wait(temper.callbackAfterMs * (1 + this.#draw(paymentId, 'wait')));
    await this.#tell(trade, trade.status, 'first');
    if (this.#draw(paymentId, 'repeated') < temper.repeatedShare) await this.#tell(trade, trade.status, 'again');
    if (this.#draw(paymentId, 'contradictory') < temper.contradictoryShare) await this.#tell(trade, trade.status === 'FAILED' ? 'SUCCEEDED' : 'FAILED', 'contradiction');
  }

  /** Until a listener has taken it, as channels do; starting at another listener each time. */
  async #tell(trade: Trade, status: CallbackStatus, event: string): Promise<void> {
    const { listeners, secret } = this.#options;
    const { provider, tradeNo, orderId, paymentId, amount, currency } = trade;
    const callback: PaymentCallback = { provider, callbackId: `${event}:${paymentId}`, tradeNo, orderId, paymentId, amount, currency, status };
    const body = JSON.stringify(secret === null ? callback : { ...callback, signature: createHmac('sha256', secret).update(signedText(callback)).digest('hex') });
    for (let attempt = Math.floor(this.#draw(paymentId, event) * listeners.length); listeners.length > 0; attempt += 1) {
      const listener = listeners[attempt % listeners.length];
      if (listener !== undefined && (await this.#post(listener, body))) {
        trade.callbacksTaken += 1;
        return;
      }
      await this.#wait(CALLBACK_RETRY_MS);
    }
  }

  async #post({ host, port }: HostPort, body: string): Promise<boolean> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]);
    try {
      const response = await fetch(`http://${host}:${String(port)}${PAYMENT_CALLBACKS_PATH}`, { method: 'POST', body, signal });
      await response.text();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** Rejects when the channel closes. */
  #wait(durationMs: number): Promise<void> {
    return delay(durationMs, undefined, { signal: this.#closing.signal });
  }

  /** Waits as the temper says; false: this call gets no answer at all. */
  async answers(id: string, call: 'query' | 'refund'): Promise<boolean> {
    const { temper } = this.#options;
    if (this.#draw(id, `mute-${call}`) < temper.muteShare && !this.#mutedOnce.has(`${call}:${id}`)) {
      this.#mutedOnce.add(`${call}:${id}`);
      return false;
    }
    if (this.#draw(id, `slow-${call}`) < temper.slowShare) await this.#wait(temper.slowMs);
    return true;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function handle(channel: Channel, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request;
  if (method === 'POST' && url === '/v1/pay') {
    const { provider, paymentId, orderId, amount, currency } = await bodyOf(request);
    const { tradeNo, status } = channel.pay({ provider: String(provider), paymentId: String(paymentId), orderId: String(orderId), amount: Number(amount), currency: String(currency) });
    reply(response, 200, { tradeNo, status });
  } else if (method === 'POST' && url === '/v1/refunds') {
    const { refundId, tradeNo } = await bodyOf(request);
    const trade = channel.byTrade.get(String(tradeNo));
    // The money moves before the answer: a caller that hears nothing must not pay back twice.
    if (trade !== undefined && !trade.refunds.includes(String(refundId))) trade.refunds = [...trade.refunds, String(refundId)];
    if (await channel.answers(String(refundId), 'refund')) reply(response, trade === undefined ? 404 : 200, { status: 'REFUNDED' });
  } else if (method === 'GET' && url.startsWith('/v1/payments/')) {
    const paymentId = decodeURIComponent(url.slice('/v1/payments/'.length).split('?')[0] ?? '');
    const trade = channel.byPayment.get(paymentId);
    if (!(await channel.answers(paymentId, 'query'))) return;
    if (trade === undefined) reply(response, 404, {});
    else reply(response, 200, { status: trade.status, tradeNo: trade.tradeNo, orderId: trade.orderId, amount: trade.amount, currency: trade.currency });
  } else if (method === 'GET' && url === '/v1/trades') {
    reply(response, 200, { trades: [...channel.byTrade.values()] });
  } else {
    request.resume();
    reply(response, 404, {});
  }
}

/** Listens, or rejects with Node's error when the port cannot be had. */
export async function startFakePaymentChannel(options: FakeChannelOptions): Promise<FakePaymentChannel> {
  const channel = new Channel(options);
  const server = createServer((request, response) => {
    handle(channel, request, response).catch(() => {
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.listen.port, options.listen.host, resolve);
  });
  return {
    address: { host: options.listen.host, port: (server.address() as AddressInfo).port },
    trades: () => [...channel.byTrade.values()],
    pendingCallbacks: () => channel.telling,
    async close() {
      await channel.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
