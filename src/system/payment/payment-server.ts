/** HTTP for the payment role: routes, reads bodies, writes answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { PAYMENT_CALLBACKS_PATH } from '../../domain/payment-contract.js';
import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { answerHealthOrMetrics, listen, shutServer, type HealthAndMetrics } from '../role-server.js';
import { notFound, tryAgain, type PaymentAction, type PaymentReply, type PaymentRequest } from './payment-requests.js';

export interface PaymentServerOptions extends HealthAndMetrics {
  readonly listen: HostPort;
  readonly answer: (request: PaymentRequest) => Promise<PaymentReply>;
  /** Told of every answer, for metrics. */
  readonly onAnswer: (action: PaymentAction, reply: PaymentReply, startedAtMs: number) => void;
  readonly log: RoleSurroundings['log'];
  /** Absent: requests have no spans. */
  readonly tracing?: RoleSurroundings['tracing'] | undefined;
}

export interface PaymentServer {
  /** The address in use, also when port 0 was asked for. */
  readonly address: HostPort;
  stop(timeoutMs: number): Promise<void>;
}

const BODY_MAX_BYTES = 4_096;
const KEEP_ALIVE_MS = 65_000;
const RETRY_AFTER_SECONDS = 1;

const ORDER_ROUTE = /^\/v1\/orders\/([^/?]{1,64})(?:\/(payments|cancel|refund))?$/;

function actionOf(request: IncomingMessage): { readonly action: PaymentAction; readonly orderId: string } | null {
  const { method, url = '' } = request;
  if (method === 'POST' && url === PAYMENT_CALLBACKS_PATH) return { action: 'callback', orderId: '' };
  const route = ORDER_ROUTE.exec(url);
  if (route === null) return null;
  const [, orderId = '', verb] = route;
  if (verb === undefined) return method === 'GET' ? { action: 'look', orderId } : null;
  if (method !== 'POST') return null;
  if (verb === 'payments') return { action: 'pay', orderId };
  return { action: verb === 'cancel' ? 'cancel' : 'refund', orderId };
}

/** The body as text, or null when it is too large; the rest is read and thrown away, so that the answer can go out. */
function readBody(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_MAX_BYTES) chunks.push(chunk);
    });
    request.on('end', () => {
      resolve(bytes > BODY_MAX_BYTES ? null : Buffer.concat(chunks).toString());
    });
    request.on('error', () => undefined);
    request.on('close', () => {
      resolve(null);
    });
  });
}

function write(response: ServerResponse, { httpStatus, answer }: PaymentReply): void {
  const body = Buffer.from(JSON.stringify(answer));
  const retry = answer.code === 'TRY_AGAIN' ? { 'Retry-After': String(RETRY_AFTER_SECONDS) } : {};
  response.writeHead(httpStatus, { 'Content-Type': 'application/json', 'Content-Length': body.length, ...retry });
  response.end(body);
}

async function handle(request: IncomingMessage, response: ServerResponse, options: PaymentServerOptions): Promise<void> {
  const startedAtMs = performance.now();
  const route = actionOf(request);
  if (route === null) {
    if (await answerHealthOrMetrics(request, response, options)) return;
    request.resume();
    write(response, notFound());
    return;
  }
  const body = await readBody(request);
  if (request.destroyed && !request.complete) return;
  const user = request.headers['x-user-id'];
  const reply = await options.answer({ ...route, userId: Array.isArray(user) ? user.join(',') : user, body });
  write(response, reply);
  options.onAnswer(route.action, reply, startedAtMs);
}

/** Listens, or rejects with Node's error when the port cannot be had. */
export async function startPaymentServer(options: PaymentServerOptions): Promise<PaymentServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: KEEP_ALIVE_MS + 1_000, requestTimeout: KEEP_ALIVE_MS + 5_000 }, (request, response) => {
    const handled = options.tracing === undefined ? handle(request, response, options) : options.tracing.request(request.method ?? '', request.headers, () => handle(request, response, options));
    handled.catch((error: unknown) => {
      // A bug. What was done is not known here; the same request again tells.
      options.log('error', 'an HTTP request failed by a bug', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      if (!response.headersSent) write(response, tryAgain());
    });
  });
  return { address: await listen(server, options.listen), stop: (timeoutMs) => shutServer(server, timeoutMs) };
}
