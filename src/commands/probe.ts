/**
 * `seckill-lab probe`: how many requests a second a gateway takes when every client waits for its answer (autocannon). A closed loop slows down
 * with the system it measures, so this says where it saturates and nothing about latency under load; `run` does that.
 */
import { randomBytes } from 'node:crypto';

import autocannon from 'autocannon';

import { reservationsPath } from '../domain/answer.js';
import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { abortError } from '../lab/abort.js';
import type { StackSource } from '../lab/bring-up-stack.js';
import { withProbeSystem } from '../lab/probe-system.js';
import { hotSku } from '../scenarios/hot-sku.js';
import { LOCAL_STACK } from '../stack/start-stack.js';
import { readStackFile } from '../stack/stack-file.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export const PROBE_LABEL = 'closed-loop saturation probe, not a latency claim';

interface ProbeRequest {
  readonly url: string | null;
  readonly stackFile: string | null;
  readonly connections: number;
  readonly durationMs: number;
  readonly json: boolean;
}

export interface ProbeResult {
  readonly label: typeof PROBE_LABEL;
  readonly url: string;
  readonly connections: number;
  readonly durationSeconds: number;
  readonly answered: number;
  readonly answersPerSecond: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Connections that failed or timed out. */
  readonly errors: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

function isHttpUrl(text: string): boolean {
  try {
    return new URL(text).protocol === 'http:';
  } catch {
    return false;
  }
}

/** Everything wrong with the options, reported at once. */
function checkedRequest(options: Readonly<Record<string, unknown>>): ProbeRequest {
  const textOf = (key: string): string | null => (typeof options[key] === 'string' ? options[key] : null);
  const problems: string[] = [];
  const url = textOf('url');
  if (url !== null && !isHttpUrl(url)) problems.push(`--url ${url}: must be an http:// address of a gateway`);
  if (url !== null && textOf('stackFile') !== null) problems.push('--url and --stack-file: give one of them');
  const connections = Number(textOf('connections') ?? '64');
  if (!Number.isInteger(connections) || connections < 1 || connections > 10_000) problems.push('--connections: must be a whole number from 1 to 10000');
  const match = /^([0-9]+)(ms|s|m)?$/.exec(textOf('duration') ?? '5s');
  const durationMs = match === null ? NaN : Number(match[1]) * (UNIT_MS[match[2] ?? 's'] ?? NaN);
  if (!(durationMs >= 100 && durationMs <= 600_000)) problems.push('--duration: must be a time from 100ms to 10m');
  if (problems.length > 0) throw new LabError('USAGE', problems.join('; '), 'see `seckill-lab probe --help`');
  return { url, stackFile: textOf('stackFile'), connections, durationMs, json: options['json'] === true };
}

/** Reservations get a new request id and a new user each; any other address is asked with GET. */
function requestOf(url: URL): autocannon.Request {
  if (!url.pathname.endsWith('/reservations')) return { method: 'GET' };
  // A probe of the same gateway a minute ago must not have used the same ids.
  const prefix = `probe-${randomBytes(6).toString('hex')}-`;
  let count = 0;
  const firstUser = 1_000_000_000_000_000 + Number.parseInt(randomBytes(5).toString('hex'), 16);
  return {
    method: 'POST',
    body: '{"quantity":1}',
    setupRequest: (request) => {
      count += 1;
      return { ...request, headers: { 'content-type': 'application/json', 'idempotency-key': `${prefix}${String(count)}`, 'x-user-id': String(firstUser + count) } };
    },
  };
}

/** Saturates the address; the result has no latency on purpose. Rejects with `LabError` ABORTED after the signal. */
export async function saturate(url: string, options: Pick<ProbeRequest, 'connections' | 'durationMs'>, signal?: AbortSignal): Promise<ProbeResult> {
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const settings: autocannon.Options = {
      url,
      connections: options.connections,
      duration: options.durationMs / 1000,
      requests: [requestOf(new URL(url))],
      // No rate: with one, autocannon "corrects" latencies that it makes up (LIBRARIES §5); without one it refuses the switch that turns this off.
    };
    const running = autocannon(settings, (error: Error | null, ended) => {
      if (error === null) resolve(ended);
      else reject(error);
    });
    signal?.addEventListener('abort', () => running.stop(), { once: true });
  });
  if (signal?.aborted === true) throw abortError();
  const byStatus = Object.fromEntries(Object.entries(result.statusCodeStats ?? {}).map(([status, { count }]) => [status, count ?? 0]));
  const answered = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  return {
    label: PROBE_LABEL,
    url,
    connections: options.connections,
    durationSeconds: result.duration,
    answered,
    answersPerSecond: Math.round(answered / Math.max(result.duration, 0.001)),
    byStatus,
    errors: result.errors,
  };
}

async function stackSourceOf(file: string | null): Promise<StackSource> {
  return file === null ? { kind: 'start', request: LOCAL_STACK, onKept: null } : { kind: 'described', description: await readStackFile(file) };
}

async function probe(request: ProbeRequest, abort: AbortController, io: CommandIo): Promise<ProbeResult> {
  if (request.url !== null) return saturate(request.url, request, abort.signal);
  const source = await stackSourceOf(request.stackFile);
  const emit = (event: { kind: string; text?: string }): void => {
    if (event.kind === 'note') io.stderr(`probe: ${event.text ?? ''}\n`);
  };
  return withProbeSystem(hotSku, { source, abort, emit }, ({ gateway, load }) => {
    const url = `http://${gateway.host}:${String(gateway.port)}${reservationsPath(load.activityId, load.skuId)}`;
    io.stderr(`probe: ${url}\n`);
    return saturate(url, request, abort.signal);
  });
}

function textOf(result: ProbeResult): string {
  const statuses = Object.entries(result.byStatus).map(([status, count]) => `${status}: ${String(count)}`).join(', ');
  return `${result.label}\n${result.url}\n${String(result.answersPerSecond)} answers a second over ${String(result.durationSeconds)} s on ${String(result.connections)} connections\nanswers by status: ${statuses}; errors: ${String(result.errors)}\n`;
}

/** 0 with a result; 2 when nothing answered or the stack cannot start; 105 after Ctrl-C; 254 for bad options. */
export async function runProbe(options: Readonly<Record<string, unknown>>, io: CommandIo): Promise<number> {
  const abort = new AbortController();
  const onSignal = (): void => {
    abort.abort(abortError());
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const request = checkedRequest(options);
    const result = await probe(request, abort, io);
    if (result.answered === 0) {
      throw new LabError('SYSTEM_NOT_READY', `${result.url} gave no answer (${String(result.errors)} errors)`, 'start a gateway there, or leave --url out to probe a stack of its own');
    }
    io.stdout(request.json ? `${JSON.stringify(result, null, 2)}\n` : textOf(result));
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  } finally {
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
}
