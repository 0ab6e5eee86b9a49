/**
 * `generator-http`: the largest rate of this project's generator against wrk's, and its processor time per request against autocannon's at one rate; depth 1,
 * 32 connections, the same sink, one core each. The generator's schedule asks for more than can be had, so that it issues as fast as answers come; the sink counts.
 */
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import type { Comparison } from './comparison.js';
import { openHttpSink, type HttpSink, type LoadWindow } from './http-sink.js';
import { withOwnStorm } from './own-generator.js';
import { endChild, peerTool, spawnPeer } from './peer-tools.js';

const CONNECTIONS = 32;
/** No code is cold and no connection is opened any more. */
const WARM_UP_MS = 1_500;
const WINDOW_MS = 2_000;
/** More than any generator here reaches. */
export const TOO_HIGH_A_RATE = 200_000;
const COMMON_RATE = 20_000;

/** The generator's window at a rate. */
export function ownWindow(sink: HttpSink, ratePerSecond: number): Promise<LoadWindow> {
  return withOwnStorm({ ratePerSecond, durationMs: WARM_UP_MS + WINDOW_MS + 1_000, connections: CONNECTIONS, target: sink.address }, async ({ pid }) => {
    await delay(WARM_UP_MS);
    return sink.window(pid, WINDOW_MS);
  });
}

export async function peerWindow(sink: HttpSink, program: string, args: readonly string[], more: Parameters<typeof spawnPeer>[2] = {}): Promise<LoadWindow> {
  const child = spawnPeer(program, args, more);
  try {
    await delay(WARM_UP_MS);
    return await sink.window(child.pid ?? 0, WINDOW_MS);
  } finally {
    await endChild(child);
  }
}

/** A sink that is busy all the time is the limit, and both sides look alike: the reader must see it. */
export class SinkUse {
  readonly #most = new Map<string, number>();

  note(label: string, window: LoadWindow): LoadWindow {
    this.#most.set(label, Math.max(this.#most.get(label) ?? 0, window.sinkUse));
    return window;
  }

  readonly notes = (): readonly string[] => [[...this.#most].map(([label, use]) => `the sink was busy at most ${(100 * use).toFixed(0)} % under ${label.trim()}`).join(', ')];
}

function rateAgainstWrk(sink: HttpSink): Comparison {
  const wrk = peerTool('wrk');
  const use = new SinkUse();
  const url = `http://127.0.0.1:${String(sink.address.port)}/`;
  return {
    name: 'generator-http', figure: 'requests a second, 32 connections, depth 1',
    sides: [
      { label: 'wrk', measure: async () => use.note('wrk', await peerWindow(sink, wrk, ['-t1', `-c${String(CONNECTIONS)}`, '-d60s', url])).requestsPerSecond },
      { label: 'this', measure: async () => use.note('this', await ownWindow(sink, TOO_HIGH_A_RATE)).requestsPerSecond },
    ],
    bars: [{ over: 'this', under: 'wrk', bound: BARS.generatorRate }],
    notes: use.notes,
  };
}

function cpuAgainstAutocannon(sink: HttpSink): Comparison {
  const autocannon = createRequire(import.meta.url).resolve('autocannon');
  const url = `http://127.0.0.1:${String(sink.address.port)}/`;
  return {
    name: 'generator-http', figure: `µs of processor time per request at ${String(COMMON_RATE)} a second`,
    sides: [
      { label: 'autocannon', measure: async () => (await peerWindow(sink, process.execPath, [autocannon, '-c', String(CONNECTIONS), '-R', String(COMMON_RATE), '-d', '60', '-n', url])).cpuUsPerRequest },
      { label: 'this', measure: async () => (await ownWindow(sink, COMMON_RATE)).cpuUsPerRequest },
    ],
    bars: [{ over: 'this', under: 'autocannon', bound: BARS.generatorCpu }],
  };
}

export const generatorHttpBench: Bench = {
  name: 'generator-http',
  async run(tools) {
    const sink = await openHttpSink();
    try {
      return await compareAll(tools, [rateAgainstWrk(sink), cpuAgainstAutocannon(sink)]);
    } finally {
      await sink.close();
    }
  },
};
