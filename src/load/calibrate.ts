/**
 * A rehearsal before the storm, against a server of the generator's own: it compiles the hot path (cold code alone makes 12–50 ms of lateness p99 in the
 * first second) and shows that this machine can keep a schedule at all, without touching the system under test.
 */
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';

import { expandArrivalPlan } from '../facts/arrival-plan.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { measureGenerator } from '../facts/load-honesty.js';
import { EdgeStorm } from './edge/edge-storm.js';
import { FirstAnswers } from './first-answers.js';
import { NO_PERMITS } from './permits.js';
import { FollowUps } from './follow-ups.js';
import { HistoryRecorder } from './history-recorder.js';
import { HttpStorm } from './http-storm.js';
import type { InprocAnswer } from './inproc-port.js';
import { InprocStorm } from './inproc-storm.js';
import type { ReadyReport } from './load-job.js';
import { monoNowUs } from './mono-clock.js';
import type { Storm, StormParts } from './storm.js';
import { Ticker } from './ticker.js';

const REHEARSAL_RATE = 4_000;
/** Batches of a hundred. */
const EDGE_REHEARSAL_RATE = 100_000;
const REHEARSAL_MS = 400;

const SOLD_OUT_BODY = '{"code":"SOLD_OUT","requestId":"r1-1","reservationId":null,"orderId":null,"reason":null,"problems":[],"retryAfterMs":null}';
const QUEUED_BODY = SOLD_OUT_BODY.replace('SOLD_OUT', 'QUEUED').replace('"reservationId":null', '"reservationId":"01890000-0000-7000-8000-000000000001"');
const SOLD_OUT_TEXT = `HTTP/1.1 410 Gone\r\nContent-Type: application/json\r\nContent-Length: ${String(SOLD_OUT_BODY.length)}\r\n\r\n${SOLD_OUT_BODY}`;
const QUEUED_TEXT = `HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: ${String(QUEUED_BODY.length)}\r\n\r\n${QUEUED_BODY}`;

interface OwnServer {
  readonly port: number;
  close(): void;
}

/** Answers every chunk as one request: at depth 1 it is one. */
async function openOwnServer(): Promise<OwnServer> {
  let requests = 0;
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      socket.write(requests % 8 === 0 ? QUEUED_TEXT : SOLD_OUT_TEXT, 'latin1');
    });
  });
  return listening(server);
}

async function listening(server: Server): Promise<OwnServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const ANSWERS_OF_EDGE = [
  (requestId: string): string => `{"status":410,"code":"TEMP_SOLD_OUT","retryAfterMs":1000,"requestId":"${requestId}"}`,
  (requestId: string): string => `{"status":202,"code":"QUEUED","retryAfterMs":500,"requestId":"${requestId}","reservationId":"01890000-0000-7000-8000-000000000001","location":"/"}`,
] as const;

/** Answers batches of either form; a question like the own server of `http`. */
async function openOwnEdgeServer(binary: boolean): Promise<OwnServer> {
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (request.method === 'GET') response.end(QUEUED_BODY);
      else if (binary) response.end(Buffer.alloc(body.length, Buffer.from('019a13', 'hex')));
      else response.end(`[${(JSON.parse(body.toString()) as { requestId: string }[]).map(({ requestId }, item) => ANSWERS_OF_EDGE[item % 8 === 0 ? 1 : 0](requestId)).join(',')}]`);
    });
  });
  return listening(server);
}

async function storm(open: (parts: StormParts) => Storm, load: LoadSpec): Promise<StormParts> {
  const plan = expandArrivalPlan(load);
  const recorder = new HistoryRecorder(plan.length);
  const silent = { tell: () => undefined };
  const followUps = new FollowUps({ load, plan, tellings: silent, pollsPerSecondMax: 1_000 });
  const parts: StormParts = { load, plan, recorder, followUps, permits: NO_PERMITS, firstAnswers: new FirstAnswers({ load, plan, recorder, tellings: silent, followUps }) };
  const rehearsed = open(parts);
  await rehearsed.open();
  recorder.schedule(monoNowUs() + 2_000, plan.dueUs);
  await new Promise<void>((resolve) => {
    const ticker = new Ticker((nowUs) => {
      rehearsed.tick(nowUs);
      rehearsed.tickFollowUps(nowUs, followUps.tick(nowUs, rehearsed));
      if (!rehearsed.finished) return;
      ticker.stop();
      resolve();
    });
    ticker.start();
  });
  await rehearsed.close();
  return parts;
}

function rehearsalOf(load: LoadSpec): LoadSpec {
  return {
    ...load,
    seed: 1,
    ratePerSecond: REHEARSAL_RATE,
    durationMs: REHEARSAL_MS,
    shape: { kind: 'poisson' },
    mix: { repeatShare: 0.1, sameUserShare: 0.05, conflictShare: 0.05, malformedShare: 0.05, distinctUsers: null },
    requestTimeoutMs: 5_000,
    connections: 32,
    pollIntervalMs: 50,
    pollsMax: 4,
    payers: null,
    permits: null,
    ...(load.edgeForm === 'binary' ? { mix: { repeatShare: 0.1, sameUserShare: 0.05, conflictShare: 0, malformedShare: 0, distinctUsers: null } } : {}),
  };
}

/** Rehearses the transport of the load. Rejects when not even the own server's answers come. */
export async function calibrate(load: LoadSpec): Promise<ReadyReport['calibration']> {
  const rehearsal = rehearsalOf(load);
  let parts: StormParts;
  if (load.transport === 'http') {
    const server = await openOwnServer();
    parts = await storm((ready) => new HttpStorm([{ host: '127.0.0.1', port: server.port }], ready), rehearsal);
    server.close();
  } else if (load.transport === 'edge') {
    const server = await openOwnEdgeServer(load.edgeForm === 'binary');
    parts = await storm((ready) => new EdgeStorm([{ host: '127.0.0.1', port: server.port }], ready), { ...rehearsal, ratePerSecond: EDGE_REHEARSAL_RATE });
    server.close();
  } else {
    const answer: InprocAnswer = {
      httpStatus: 410,
      answer: { code: 'SOLD_OUT', requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null },
      location: null,
    };
    let calls = 0;
    const submit = (): InprocAnswer | Promise<InprocAnswer> => {
      calls += 1;
      return calls % 2 === 0 ? answer : Promise.resolve(answer);
    };
    parts = await storm((ready) => new InprocStorm({ submit, query: () => Promise.resolve(answer), metricsText: () => Promise.resolve(''), close: () => Promise.resolve() }, ready), rehearsal);
  }
  const facts = measureGenerator(parts.recorder.columns, { cpuSeconds: 0, maxTickGapUs: 0 });
  if (facts.answered === 0) throw new Error('the rehearsal against the own server got no answer');
  return { answered: facts.answered, latenessP99Us: facts.latenessP99Us };
}
