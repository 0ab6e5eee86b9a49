/**
 * `generator-peer`: this project's generator against vegeta, the open-loop peer: the largest rate, one core each; and with a server frozen for a second at
 * 2,000 requests a second, the p99 from the intended time that each of them reports.
 */
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { monoNowUs } from '../load/mono-clock.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import type { Comparison } from './comparison.js';
import { ownWindow, peerWindow, SinkUse, TOO_HIGH_A_RATE } from './generator-http.js';
import { openHttpSink, type HttpSink } from './http-sink.js';
import { latencyP99Us, withOwnStorm } from './own-generator.js';
import { peerTool, spawnPeer } from './peer-tools.js';

const CONNECTIONS = '32';
const ONE_CORE = { env: { GOMAXPROCS: '1' } } as const;
const FROZEN = { ratePerSecond: 2_000, durationMs: 5_000, afterMs: 2_000, forMs: 1_000 } as const;
/** A frozen second's arrivals, one connection each, and some more. */
const CONNECTIONS_WHILE_FROZEN = 3_000;

function rateAgainstVegeta(sink: HttpSink, vegeta: string): Comparison {
  const use = new SinkUse();
  const more = { ...ONE_CORE, input: `POST http://127.0.0.1:${String(sink.address.port)}/\n` };
  return {
    name: 'generator-peer', figure: 'requests a second, 32 connections, depth 1',
    sides: [
      {
        label: 'vegeta',
        measure: async () => use.note('vegeta', await peerWindow(sink, vegeta, ['attack', '-rate=0', `-max-workers=${CONNECTIONS}`, `-connections=${CONNECTIONS}`, '-duration=60s', '-output=/dev/null'], more)).requestsPerSecond,
      },
      { label: 'this', measure: async () => use.note('this', await ownWindow(sink, TOO_HIGH_A_RATE)).requestsPerSecond },
    ],
    bars: [{ over: 'this', under: 'vegeta', bound: BARS.peerRate }],
    notes: use.notes,
  };
}

/** What vegeta's report says of its results; it measures from when it sends, and it sends when a request is due. */
async function vegetaP99Ms(sink: HttpSink, vegeta: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'seckill-bench-'));
  const results = join(directory, 'results.bin');
  const output = openSync(results, 'w');
  try {
    const input = `POST http://127.0.0.1:${String(sink.address.port)}/\n`;
    const child = spawnPeer(vegeta, ['attack', `-rate=${String(FROZEN.ratePerSecond)}/s`, `-duration=${String(FROZEN.durationMs)}ms`, '-max-workers=10000', '-timeout=30s'], { ...ONE_CORE, input, outputFd: output });
    const gone = once(child, 'exit');
    await delay(FROZEN.afterMs);
    await sink.freeze(FROZEN.forMs);
    await gone;
    const report = JSON.parse(execFileSync(vegeta, ['report', '-type=json', results], { encoding: 'utf8' })) as { latencies: { '99th': number }; requests: number; status_codes: Record<string, number> };
    if (report.status_codes['410'] !== report.requests) throw new Error(`vegeta lost answers: ${JSON.stringify(report.status_codes)} of ${String(report.requests)}`);
    return report.latencies['99th'] / 1e6;
  } finally {
    closeSync(output);
    await rm(directory, { recursive: true, force: true });
  }
}

function ownP99Ms(sink: HttpSink): Promise<number> {
  const { ratePerSecond, durationMs } = FROZEN;
  return withOwnStorm({ ratePerSecond, durationMs, connections: CONNECTIONS_WHILE_FROZEN, target: sink.address }, async ({ startUs, done, history }) => {
    await delay((startUs - monoNowUs()) / 1_000 + FROZEN.afterMs);
    await sink.freeze(FROZEN.forMs);
    const facts = await done;
    if (facts.answered !== facts.scheduled) throw new Error(`${String(facts.answered)} of ${String(facts.scheduled)} arrivals were answered`);
    return latencyP99Us(await history()) / 1_000;
  });
}

function p99OfTheFrozen(sink: HttpSink, vegeta: string): Comparison {
  return {
    name: 'generator-peer', figure: 'p99 in ms from the intended time, 2,000 a second for 5 s, the server frozen for 1 s',
    sides: [{ label: 'vegeta', measure: () => vegetaP99Ms(sink, vegeta) }, { label: 'this', measure: () => ownP99Ms(sink) }],
    bars: [{ over: 'this', under: 'vegeta', bound: BARS.peerP99 }],
  };
}

export const generatorPeerBench: Bench = {
  name: 'generator-peer',
  async run(tools) {
    const vegeta = peerTool('vegeta');
    const sink = await openHttpSink();
    try {
      return await compareAll(tools, [rateAgainstVegeta(sink, vegeta), p99OfTheFrozen(sink, vegeta)]);
    } finally {
      await sink.close();
    }
  },
};
