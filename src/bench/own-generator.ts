/** This project's generator as a bench uses it: the real process, started, measured and ended, its files thrown away. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { HostPort } from '../domain/role-config.js';
import type { GeneratorFacts, HistoryFacts } from '../facts/history.js';
import { percentileOf } from '../facts/load-honesty.js';
import { DEFAULT_MIX, type LoadSpec } from '../facts/load-spec.js';
import { startGenerator } from '../load/generator-client.js';
import type { InprocJob } from '../load/load-job.js';
import { monoNowUs } from '../load/mono-clock.js';
import { readHistory } from '../load/read-history.js';
import { CLIENT_CORE, pin } from './peer-tools.js';

export interface OwnLoad {
  readonly ratePerSecond: number;
  readonly durationMs: number;
  readonly connections: number;
  /** null: the gateway is in the generator's process. */
  readonly target: HostPort | null;
  readonly inproc?: InprocJob;
}

export interface OwnStorm {
  readonly pid: number;
  /** CLOCK_MONOTONIC microseconds of the first arrival. */
  readonly startUs: number;
  readonly done: Promise<GeneratorFacts>;
  /** After `done`. */
  readonly history: () => Promise<HistoryFacts>;
}

/** As in the issue that a mean client is: one request a connection, ten per cent repeats. */
function specOf(load: OwnLoad): LoadSpec {
  return {
    seed: 7, ratePerSecond: load.ratePerSecond, durationMs: load.durationMs, shape: { kind: 'constant' }, mix: DEFAULT_MIX, transport: load.target === null ? 'inproc' : 'http',
    activityId: '10001', skuId: '20001', requestTimeoutMs: 60_000, connections: load.connections, pollIntervalMs: 1_000, pollsMax: 0, payers: null, permits: null,
  };
}

const HEAD_START_US = 100_000;

/** Starts the storm, lends it, and ends whatever is left of it. With a target it is pinned to the client's core. */
export async function withOwnStorm<Value>(load: OwnLoad, use: (storm: OwnStorm) => Promise<Value>): Promise<Value> {
  const directory = await mkdtemp(join(tmpdir(), 'seckill-bench-'));
  const spec = specOf(load);
  try {
    const generator = await startGenerator(
      { load: spec, targets: load.target === null ? [] : [load.target], directory, inproc: load.inproc ?? null, payment: null, permitSecret: null, calibrates: false },
      { onSpawn: (pid) => { if (load.target !== null) pin(pid, CLIENT_CORE); } },
    );
    const startUs = monoNowUs() + HEAD_START_US;
    generator.start(startUs);
    try {
      return await use({ pid: generator.pid, startUs, done: generator.stormDone, history: () => readHistory(directory, spec) });
    } finally {
      await generator.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** p99 of the latency from the intended time, of what was answered. Microseconds. */
export function latencyP99Us({ columns }: Pick<HistoryFacts, 'columns'>): number {
  const latencies = new Float64Array(columns.length);
  for (let index = 0; index < columns.length; index += 1) latencies[index] = (columns.answeredUs[index] ?? Number.NaN) - (columns.intendedUs[index] ?? Number.NaN);
  return percentileOf(latencies.filter((latency) => !Number.isNaN(latency)).sort(), 0.99);
}
