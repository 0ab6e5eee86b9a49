/**
 * HTTP for the gateway: routes, reads bodies, writes answers. Plain `node:http`: at this rate a framework's work per request would be the
 * larger half.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import type { SkuState } from '../../domain/answer.js';
import { BATCH_BODY_MAX_BYTES, BATCH_CONTENT_TYPES, batchFormOf, type BatchForm } from '../../domain/batch-contract.js';
import type { SkuKey } from '../../domain/ids.js';
import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { answerHealthOrMetrics, listen, shutServer, type HealthAndMetrics } from '../role-server.js';
import * as answers from './answers.js';
import type { GatewayAnswer } from './answers.js';
import { decideBatch } from './batch/decide-batch.js';
import { readBatch, type BatchItem } from './batch/read-batch.js';
import { createTurns, type Turns } from './batch/turns.js';
import { writeBatch } from './batch/write-batch.js';
import type { AnswerRecorder } from './gateway-metrics.js';
import type { Query } from './query.js';
import type { SkuStates } from './sku-state.js';
import type { Submitter } from './submit.js';

export interface GatewayServerOptions extends HealthAndMetrics {
  readonly listen: HostPort;
  readonly submitter: Submitter;
  readonly query: Query;
  readonly skuState: SkuStates;
  /** Told of every answer, for metrics. */
  readonly recorder: AnswerRecorder;
  readonly surroundings: Pick<RoleSurroundings, 'log' | 'tracing'>;
}

interface ServingOptions extends GatewayServerOptions {
  readonly turns: Turns;
}

export interface GatewayServer {
  /** The address in use, also when port 0 was asked for. */
  readonly address: HostPort;
  /** Takes no more connections, lets answers in hand go out, closes at most `timeoutMs` later. */
  stop(timeoutMs: number): Promise<void>;
}

/** The largest valid body is well below: quantity and a tag of 64 characters. */
const BODY_MAX_BYTES = 4_096;
const MAX_HEADER_BYTES = 8_192;
/** Longer than any load balancer or client keeps an idle connection: who closes first loses a request in the race. */
const KEEP_ALIVE_MS = 65_000;

const ROUTE = /^\/v1\/activities\/([^/?]{1,64})\/skus\/([^/?]{1,64})\/(?:(reservations)|(reservations:batch)|(state)|requests\/([^/?]{1,192}))$/;

/** The body, or null when it is too large or the client went away. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // The rest is read and thrown away, so that the connection stays usable for the answer.
      if (bytes <= maxBytes) chunks.push(chunk);
    });
    request.on('end', () => {
      resolve(bytes > maxBytes ? null : chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    // The client went away in the middle of its body; after `end` this resolves nothing any more.
    request.on('error', () => undefined);
    request.on('close', () => {
      resolve(null);
    });
  });
}

function write(response: ServerResponse, { httpStatus, answer, location }: GatewayAnswer): void {
  const body = Buffer.from(JSON.stringify(answer));
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
  if (location !== null) headers.push('Location', location);
  if (answer.retryAfterMs !== null) headers.push('Retry-After', String(Math.ceil(answer.retryAfterMs / 1_000)));
  response.writeHead(httpStatus, headers);
  response.end(body);
}

function writeState(response: ServerResponse, state: SkuState | null): void {
  if (state === null) {
    write(response, answers.notFound());
    return;
  }
  const body = Buffer.from(JSON.stringify(state));
  const maxAge = `max-age=${String(Math.floor(state.validForMs / 1_000))}`;
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(body.length), 'Cache-Control', maxAge]);
  response.end(body);
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(',') : value;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function answerTo(request: IncomingMessage, response: ServerResponse, options: ServingOptions): Promise<void> {
  const startedAtMs = performance.now();
  const route = ROUTE.exec(request.url ?? '');
  if (route === null) {
    if (await answerHealthOrMetrics(request, response, options)) return;
    request.resume();
    write(response, answers.notFound());
    return;
  }
  const [, activityId = '', skuId = '', reservations, batch, state, requestId = ''] = route;
  if (batch !== undefined && request.method === 'POST') {
    await answerBatch(request, response, options, { activityId, skuId });
    return;
  }
  if (reservations !== undefined && request.method === 'POST') {
    const body = await readBody(request, BODY_MAX_BYTES);
    if (request.destroyed && !request.complete) return;
    const raw = { activityId, skuId, requestId: headerOf(request, 'idempotency-key'), userId: headerOf(request, 'x-user-id'), permit: headerOf(request, 'x-permit'), deviceId: headerOf(request, 'x-device-id') };
    const answer = body === null ? answers.invalid([`the body is larger than ${String(BODY_MAX_BYTES)} bytes`], null) : await options.submitter.submit({ ...raw, body: body.toString() });
    write(response, answer);
    options.recorder.answered('submit', answer, startedAtMs, skuId);
    return;
  }
  request.resume();
  if (state !== undefined && request.method === 'GET') {
    writeState(response, options.skuState(activityId, skuId));
    return;
  }
  if (requestId !== '' && request.method === 'GET') {
    const answer = await options.query({ activityId, skuId, requestId: decoded(requestId), userId: headerOf(request, 'x-user-id') });
    write(response, answer);
    options.recorder.answered('query', answer, startedAtMs, skuId);
    return;
  }
  write(response, answers.notFound());
}

/** The items of a batch, or the one answer to what is no batch. */
function itemsOf(form: BatchForm | null, body: Buffer | null, sku: SkuKey): { readonly form: BatchForm; readonly items: readonly BatchItem[] } | GatewayAnswer {
  if (form === null) return answers.invalid([`Content-Type must be one of ${Object.values(BATCH_CONTENT_TYPES).join(', ')}`], null);
  if (body === null) return answers.invalid([`the body is larger than ${String(BATCH_BODY_MAX_BYTES)} bytes`], null);
  const read = readBatch(form, body, sku);
  return read.ok ? { form, items: read.items } : answers.invalid([read.problem], null);
}

/** Many reservations in one request (domain/batch-contract.ts). */
async function answerBatch(request: IncomingMessage, response: ServerResponse, options: ServingOptions, sku: SkuKey): Promise<void> {
  const { submitter, recorder, surroundings, turns } = options;
  const startedAtMs = performance.now();
  const body = await readBody(request, BATCH_BODY_MAX_BYTES);
  if (request.destroyed && !request.complete) return;
  if (body !== null) await turns.enter(body.length);
  const read = submitter.sells(sku) ? itemsOf(batchFormOf(headerOf(request, 'content-type')), body, sku) : answers.notFound();
  if ('answer' in read) {
    write(response, read);
    recorder.answered('submit', read, startedAtMs, sku.skuId);
    return;
  }
  const { form, items } = read;
  const decided = await decideBatch(items, sku, (valid) => submitter.decide(valid), (...line) => { surroundings.log(...line); });
  const bytes = writeBatch(form, decided);
  response.writeHead(200, ['Content-Type', BATCH_CONTENT_TYPES[form], 'Content-Length', String(bytes.length)]);
  response.end(bytes);
  recorder.batchAnswered(decided, startedAtMs, sku.skuId);
}

/** Listens, or rejects with Node's error when the port cannot be had. */
export async function startGatewayServer(of: GatewayServerOptions): Promise<GatewayServer> {
  const options: ServingOptions = { ...of, turns: createTurns() };
  const { tracing } = options.surroundings;
  const server: Server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: KEEP_ALIVE_MS + 1_000, requestTimeout: KEEP_ALIVE_MS + 5_000, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    const answered = tracing === undefined ? answerTo(request, response, options) : tracing.request(request.method ?? '', request.headers, () => answerTo(request, response, options));
    answered.catch((error: unknown) => {
      // A bug. Whether something was reserved is not known here, so the answer only says that it is not known.
      options.surroundings.log('error', 'an HTTP request failed by a bug', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      if (!response.headersSent) write(response, { httpStatus: 503, answer: { code: 'RESULT_UNKNOWN', requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: 1_000 }, location: null });
    });
  });
  const address = await listen(server, options.listen);
  return { address, stop: (timeoutMs) => shutServer(server, timeoutMs) };
}
