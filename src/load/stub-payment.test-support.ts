/** A payment role for the generator's tests: one handler per request, over node:http. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { PaymentAnswer, PaymentCode } from '../domain/payment-contract.js';
import { PAYMENT_HTTP_STATUS } from '../domain/payment-contract.js';
import type { HostPort } from '../domain/role-config.js';

export interface StubPaymentRequest {
  readonly method: string;
  readonly path: string;
  readonly userId: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  answer(code: PaymentCode, fields?: Partial<PaymentAnswer>): void;
  /** Closes the connection without a word. */
  drop(): void;
}

const NOTHING: Omit<PaymentAnswer, 'code'> = { orderId: null, paymentId: null, orderStatus: null, amount: null, currency: null, reason: null, repeated: false, problems: [] };

export class StubPayment {
  readonly address: HostPort;
  readonly requests: Omit<StubPaymentRequest, 'answer' | 'drop'>[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  static async start(handle: (request: StubPaymentRequest, number: number) => void): Promise<StubPayment> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stub = new StubPayment(server);
    server.on('request', (incoming, outgoing) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      incoming.on('end', () => {
        const userId = incoming.headers['x-user-id'];
        const request = {
          method: incoming.method ?? '',
          path: incoming.url ?? '',
          userId: typeof userId === 'string' ? userId : null,
          body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
        };
        stub.requests.push(request);
        handle({
          ...request,
          answer: (code, fields = {}) => {
            const body = JSON.stringify({ code, ...NOTHING, ...fields });
            outgoing.writeHead(PAYMENT_HTTP_STATUS[code], { 'content-type': 'application/json', 'content-length': body.length }).end(body);
          },
          drop: () => incoming.socket.destroy(),
        }, stub.requests.length);
      });
    });
    return stub;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
