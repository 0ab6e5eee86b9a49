/**
 * `gateway-http`: requests a second of the gateway when everything is sold, against a `node:http` server that does nothing but write the same answer. wrk asks
 * both alike, each request with ids of its own; the server has one core, wrk the other.
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { HTTP_STATUS_OF, reservationsPath } from '../domain/answer.js';
import { DEFAULT_FUNNEL } from '../domain/funnel.js';
import { ANSWER_CODES_BY_NUMBER } from '../domain/reason-codes.js';
import { parseMetrics } from '../lab/roles/role-http.js';
import { LUA_DIRECTORY } from '../system/stock/script-loader.js';
import { BARE_ANSWER_VARIABLE, type BareAnswer } from './bare-answer.js';
import { BARS } from './bars.js';
import { compareAll, type Bench, type BenchTools } from './bench.js';
import { CLIENT_CORE, endChild, peerTool, pin, SERVER_CORE } from './peer-tools.js';
import { ACTIVITY_ID, openSale, SKU_ID, startRoleProcess, stockRedis } from '../lab/size/sale.js';

const CONNECTIONS = 32;
const SECONDS = 3;

const run = promisify(execFile);

/** Purchases by what the gateway has told them, since it was started. */
export interface Told {
  readonly soldOut: number;
  readonly others: number;
}

const SOLD_OUT: ReadonlySet<string | undefined> = new Set(ANSWER_CODES_BY_NUMBER.filter((code) => HTTP_STATUS_OF[code] === 410));

/** From the text of the gateway's metrics. */
export function toldOf(metrics: string): Told {
  let [soldOut, others] = [0, 0];
  for (const [series, value] of Object.entries(parseMetrics(metrics))) {
    if (!/^seckill_requests_total\{.*request="submit"/.test(series)) continue;
    if (SOLD_OUT.has(/result_code="([A-Z_]+)"/.exec(series)?.[1])) soldOut += value;
    else others += value;
  }
  return { soldOut, others };
}

/**
 * Every request of a window heard 410 and nothing else: wrk tells a refusal of any kind, and a gateway that has lost its Redis refuses faster than one that is sold out.
 * wrk cuts off what is in flight at its end, which the gateway has counted.
 */
export function mustAllBeSoldOut(before: Told, after: Told, requests: number): void {
  const [soldOut, others] = [after.soldOut - before.soldOut, after.others - before.others];
  if (others === 0 && soldOut >= requests && soldOut <= requests + CONNECTIONS) return;
  throw new Error(`wrk counts ${String(requests)} refusals, and the gateway told ${String(soldOut)} that all is sold and ${String(others)} something else`);
}

async function told(origin: string): Promise<Told> {
  const answer = await fetch(`${origin}/metrics`);
  if (!answer.ok) throw new Error(`${origin}/metrics answers ${String(answer.status)}`);
  return toldOf(await answer.text());
}

/** The gateway's window between two readings of its counts. */
async function askGateway(wrk: string, origin: string, path: string): Promise<number> {
  const before = await told(origin);
  const report = await askAll(wrk, `${origin}${path}`);
  mustAllBeSoldOut(before, await told(origin), report.requests);
  return report.rate;
}

/** As wrk reports them. Throws unless every answer was a refusal. */
async function askAll(wrk: string, url: string): Promise<WrkReport> {
  const script = join(LUA_DIRECTORY, 'bench', 'reserve_over_http-0.lua');
  const { stdout } = await run('taskset', ['-c', String(CLIENT_CORE), wrk, '-t1', `-c${String(CONNECTIONS)}`, `-d${String(SECONDS)}s`, '-s', script, url]);
  return wrkReport(stdout);
}

export interface WrkReport {
  readonly requests: number;
  /** A second. */
  readonly rate: number;
}

/** From wrk's text. */
export function wrkReport(report: string): WrkReport {
  const requests = /(\d+) requests in /.exec(report)?.[1];
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(report)?.[1];
  if (requests === undefined || requests !== refused || report.includes('Socket errors')) throw new Error(`not every answer was a refusal:\n${report}`);
  return { requests: Number(requests), rate: Number(/Requests\/sec:\s*([0-9.]+)/.exec(report)?.[1] ?? Number.NaN) };
}

/** What the gateway says now that everything is sold, to be said by the bare server too. */
async function soldOutAnswer(url: string): Promise<BareAnswer> {
  let last = '';
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `probe-${String(attempt)}`, 'X-User-Id': String(1_000_000_000 + attempt) }, body: '{"quantity":1}' });
    const body = await answer.text();
    last = `${String(answer.status)} ${body}`;
    if (answer.status !== 410) continue;
    const headers = ['content-type', 'content-length', 'retry-after'].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [name, value];
    });
    return { status: answer.status, headers, body };
  }
  throw new Error(`the gateway does not say that everything is sold: ${last}`);
}

async function withBareServer<Value>(answer: BareAnswer, use: (port: number) => Promise<Value>): Promise<Value> {
  const child = fork(fileURLToPath(new URL('./bare-server-main.js', import.meta.url)), [], { execArgv: [], env: { ...process.env, [BARE_ANSWER_VARIABLE]: JSON.stringify(answer) } });
  try {
    pin(child.pid ?? 0, SERVER_CORE);
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return await use(port);
  } finally {
    await endChild(child);
  }
}

async function measure(tools: BenchTools): Promise<boolean> {
  const wrk = peerTool('wrk');
  const stack = await tools.stack();
  const sale = await openSale(stack, { units: 1, topics: true });
  await stockRedis(stack, sale, 0);
  const funnel = { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': true } };
  const config = sale.configOf('gateway', { tuning: { funnel } });
  const gateway = await startRoleProcess(stack, config, SERVER_CORE);
  try {
    const path = reservationsPath(ACTIVITY_ID, SKU_ID);
    const origin = `http://127.0.0.1:${String(config.listen.port)}`;
    return await withBareServer(await soldOutAnswer(`${origin}${path}`), (port) =>
      compareAll(tools, [{
        name: 'gateway-http', figure: 'requests a second, sold out, 32 connections, depth 1',
        sides: [
          { label: 'node:http', measure: async () => (await askAll(wrk, `http://127.0.0.1:${String(port)}${path}`)).rate },
          { label: 'gateway', measure: () => askGateway(wrk, origin, path) },
        ],
        bars: [{ over: 'gateway', under: 'node:http', bound: BARS.gatewayRate }],
      }]));
  } finally {
    await gateway.stop();
    await sale.close();
  }
}

export const gatewayHttpBench: Bench = { name: 'gateway-http', run: measure };
