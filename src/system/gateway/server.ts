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
import { plainAnswerText } from './answer-text.js';
import * as answers from './answers.js';
import type { GatewayAnswer } from './answers.js';
import { answerInPlace } from './batch/answer-in-place.js';
import { decideBatch } from './batch/decide-batch.js';
import { readBatch, type BatchItem } from './batch/read-batch.js';
import { createTurns, type Turns } from './batch/turns.js';
import { writeBatch } from './batch/write-batch.js';
import type { AnswerRecorder } from './gateway-metrics.js';
import type { Query } from './query.js';
import { closeWhereIdle } from './idle-connections.js';
import { bodyOf, bodyText, readBody } from './request-body.js';
import { createRouter, type Route } from './routes.js';
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
  readonly routeOf: ReturnType<typeof createRouter>;
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
/** Longer than any load balancer or client keeps an idle connection: who closes first loses a request in the race; no header tells them. And longer than any answer takes. */
const KEEP_ALIVE_MS = 65_000;

function write(response: ServerResponse, { httpStatus, answer, location }: GatewayAnswer): void {
  const text = plainAnswerText(answer);
  const body = text ?? Buffer.from(JSON.stringify(answer));
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
  if (location !== null) headers.push('Location', location);
  if (answer.retryAfterMs !== null) headers.push('Retry-After', String(Math.ceil(answer.retryAfterMs / 1_000)));
  response.writeHead(httpStatus, headers);
  // ASCII goes out in one piece with the head.
  if (text === null) response.end(body);
  else response.end(text, 'latin1');
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

/** A header that came several times as one. Headers are read by constant names: by a variable one each costs twenty times as much. */
function single(value: string | string[] | undefined): string | undefined {
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

/** Everything but purchases. */
async function answerOther(request: IncomingMessage, response: ServerResponse, options: ServingOptions, route: Route | null): Promise<void> {
  const startedAtMs = performance.now();
  if (route === null && (await answerHealthOrMetrics(request, response, options))) return;
  request.resume();
  if (request.method === 'GET' && route?.resource === 'state') {
    writeState(response, options.skuState(route.activityId, route.skuId));
  } else if (request.method === 'GET' && route?.resource === 'request') {
    const { activityId, skuId, requestId } = route;
    const answer = await options.query({ activityId, skuId, requestId: decoded(requestId), userId: single(request.headers['x-user-id']) });
    write(response, answer);
    options.recorder.answered('query', answer, startedAtMs, skuId);
  } else {
    write(response, answers.notFound());
  }
}

/** A purchase whose body is here. */
interface Purchase {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sku: SkuKey;
  /** Null: it was too large. */
  readonly body: Buffer | null;
  readonly startedAtMs: number;
}

/** A promise only where the decision has to wait. */
function answerReservation({ request, response, sku, body, startedAtMs }: Purchase, { submitter, recorder }: ServingOptions): Promise<void> | null {
  const tell = (answer: GatewayAnswer): void => {
    write(response, answer);
    recorder.answered('submit', answer, startedAtMs, sku.skuId);
  };
  if (body === null) {
    tell(answers.invalid([`the body is larger than ${String(BODY_MAX_BYTES)} bytes`], null));
    return null;
  }
  const { headers } = request;
  const answer = submitter.submit({
    activityId: sku.activityId, skuId: sku.skuId, requestId: single(headers['idempotency-key']), userId: single(headers['x-user-id']),
    permit: single(headers['x-permit']), deviceId: single(headers['x-device-id']), body: bodyText(body),
  });
  if (answer instanceof Promise) return answer.then(tell);
  tell(answer);
  return null;
}

/** The items of a batch, or the one answer to what is no batch. */
function itemsOf(form: BatchForm | null, body: Buffer | null, sku: SkuKey): { readonly form: BatchForm; readonly items: readonly BatchItem[] } | GatewayAnswer {
  if (form === null) return answers.invalid([`Content-Type must be one of ${Object.values(BATCH_CONTENT_TYPES).join(', ')}`], null);
  if (body === null) return answers.invalid([`the body is larger than ${String(BATCH_BODY_MAX_BYTES)} bytes`], null);
  const read = readBatch(form, body, sku);
  return read.ok ? { form, items: read.items } : answers.invalid([read.problem], null);
}

function writeBytes(response: ServerResponse, form: BatchForm, bytes: Buffer): void {
  response.writeHead(200, ['Content-Type', BATCH_CONTENT_TYPES[form], 'Content-Length', String(bytes.length)]);
  response.end(bytes);
}

/** Many reservations in one request (domain/batch-contract.ts). */
async function answerBatch({ request, response, sku, body, startedAtMs }: Purchase, { submitter, recorder, surroundings, turns }: ServingOptions): Promise<void> {
  if (body !== null) await turns.enter();
  const batchForm = batchFormOf(request.headers['content-type']);
  const log: RoleSurroundings['log'] = (...line) => { surroundings.log(...line); };
  if (batchForm !== null && body !== null && submitter.sells(sku)) {
    const inPlace = answerInPlace(batchForm, body, sku, submitter, log);
    if (inPlace !== null) {
      const { bytes, told } = await inPlace;
      writeBytes(response, batchForm, bytes);
      recorder.batchAnswered(told, startedAtMs, sku.skuId);
      return;
    }
  }
  const read = submitter.sells(sku) ? itemsOf(batchForm, body, sku) : answers.notFound();
  if ('answer' in read) {
    write(response, read);
    recorder.answered('submit', read, startedAtMs, sku.skuId);
    return;
  }
  const { form, items } = read;
  const decided = await decideBatch(items, sku, submitter, log);
  writeBytes(response, form, writeBatch(form, decided));
  recorder.batchAnswered({ answers: decided }, startedAtMs, sku.skuId);
}

/** A bug. Whether something was reserved is not known here, so the answer only says that it is not known. */
function failed(response: ServerResponse, { surroundings }: ServingOptions, error: unknown): void {
  surroundings.log('error', 'an HTTP request failed by a bug', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  if (!response.headersSent) write(response, { httpStatus: 503, answer: { code: 'RESULT_UNKNOWN', requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: 1_000 }, location: null });
}

function orFailed(response: ServerResponse, options: ServingOptions, answering: () => Promise<void> | null): void {
  try {
    answering()?.catch((error: unknown) => {
      failed(response, options, error);
    });
  } catch (error) {
    failed(response, options, error);
  }
}

function serve(request: IncomingMessage, response: ServerResponse, options: ServingOptions): void {
  const { tracing } = options.surroundings;
  const route = options.routeOf(request.url ?? '');
  const traced = (work: () => Promise<void>): Promise<void> => (tracing === undefined ? work() : tracing.request(request.method ?? '', request.headers, work));
  if (request.method !== 'POST' || (route?.resource !== 'reservations' && route?.resource !== 'batch')) {
    orFailed(response, options, () => traced(() => answerOther(request, response, options, route)));
    return;
  }
  const startedAtMs = performance.now();
  const [answer, maxBytes] = route.resource === 'batch' ? [answerBatch, BATCH_BODY_MAX_BYTES] : [answerReservation, BODY_MAX_BYTES];
  if (tracing === undefined) {
    readBody(request, maxBytes, (body) => {
      orFailed(response, options, () => answer({ request, response, sku: route, body, startedAtMs }, options));
    });
    return;
  }
  // A span is carried along by promises, not by the events of a request.
  orFailed(response, options, () => traced(async () => {
    const body = await bodyOf(request, maxBytes);
    if (body !== 'gone') await answer({ request, response, sku: route, body, startedAtMs }, options);
  }));
}

/** Listens, or rejects with Node's error when the port cannot be had. */
export async function startGatewayServer(of: GatewayServerOptions): Promise<GatewayServer> {
  const options: ServingOptions = { ...of, turns: createTurns(), routeOf: createRouter() };
  const server: Server = createServer({ keepAliveTimeout: 0, headersTimeout: KEEP_ALIVE_MS + 1_000, requestTimeout: KEEP_ALIVE_MS + 5_000, maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    serve(request, response, options);
  });
  closeWhereIdle(server, KEEP_ALIVE_MS);
  const address = await listen(server, options.listen);
  return { address, stop: (timeoutMs) => shutServer(server, timeoutMs) };
}
