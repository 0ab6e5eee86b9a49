/**
 * The lab's side of the generator's process: starts it, tells it when to begin, hears what it says, and notices when it dies.
 *
 * All promises reject with `LabError` GENERATOR_FAILED when the process ends or reports an error before it has done what they wait for.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { GeneratorFacts } from '../facts/history.js';
import { LabError } from '../facts/lab-error.js';
import { LOAD_JOB_VARIABLE, type GeneratorMessage, type LabMessage, type LoadJob, type LoadProgress, type ReadyReport } from './load-job.js';

export interface GeneratorSpawn {
  /** The compiled entry. Default: `main.js` beside this file. */
  readonly entry?: string;
  /** Where its stdout and stderr go. Default: nowhere. */
  readonly logFd?: number;
  /** At once after the spawn, before it is ready: register the process with whoever cleans up. */
  onSpawn?(pid: number): void;
  onProgress?(progress: LoadProgress): void;
  /** How long it may take to become ready. Default 60,000: three million arrivals and thousands of connections take a few seconds. */
  readonly readyTimeoutMs?: number;
}

export interface FinalPollsReport {
  readonly asked: number;
  readonly unanswered: number;
  /** Prometheus text of a gateway that lives in the generator; null: there is none. */
  readonly gatewayMetrics: string | null;
}

export interface RunningGenerator {
  readonly pid: number;
  readonly ready: ReadyReport;
  /** `atMonoUs`: CLOCK_MONOTONIC microseconds of the plan's zero; give it 100 ms. Once. */
  start(atMonoUs: number): void;
  /** Resolves when every arrival has its outcome and `history.bin` is written. */
  readonly stormDone: Promise<GeneratorFacts>;
  /** After `stormDone`: resolves with how many clients are not done with paying, when all are or `timeoutMs` have passed. */
  payersFinished(timeoutMs: number): Promise<number>;
  /** After `stormDone`: every followed request is asked once more. Resolves when that is written. */
  finalPolls(): Promise<FinalPollsReport>;
  /** Ends the storm if it runs, closes the files, and resolves when the process is gone; killed after 10 s. Never rejects. */
  stop(): Promise<void>;
}

const STOP_TIMEOUT_MS = 10_000;

function failed(message: string): LabError {
  return new LabError('GENERATOR_FAILED', `the load generator failed: ${message}`, 'Look into the run folder, logs/generator.log; a run without its generator has no verdict.');
}

/** One promise that others settle, with its rejection always listened to: not every caller waits for every promise. */
class Awaited<Value> {
  readonly promise: Promise<Value>;
  resolve: (value: Value) => void = () => undefined;
  reject: (error: LabError) => void = () => undefined;

  constructor() {
    this.promise = new Promise<Value>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => undefined);
  }
}

class Client {
  readonly ready = new Awaited<ReadyReport>();
  readonly done = new Awaited<GeneratorFacts>();
  readonly payersFinished = new Awaited<number>();
  readonly settled = new Awaited<FinalPollsReport>();
  readonly gone = new Awaited<null>();
  readonly child: ChildProcess;
  #hasEnded = false;

  constructor(child: ChildProcess, spawn: GeneratorSpawn) {
    this.child = child;
    child.on('message', (raw) => {
      const message = raw as GeneratorMessage;
      if (message.kind === 'ready') this.ready.resolve(message.report);
      else if (message.kind === 'progress') spawn.onProgress?.(message.progress);
      else if (message.kind === 'done') this.done.resolve(message.facts);
      else if (message.kind === 'payers-finished') this.payersFinished.resolve(message.unfinished);
      else if (message.kind === 'settled') this.settled.resolve({ asked: message.asked, unanswered: message.unanswered, gatewayMetrics: message.gatewayMetrics });
      else this.fail(message.message);
    });
    child.on('error', (error) => {
      this.fail(error.message);
      // A process that could not be started never exits.
      if (child.pid === undefined) this.#end();
    });
    child.on('exit', (code, signal) => {
      this.#end();
      this.fail(`it ended ${signal === null ? `with exit code ${String(code)}` : `by ${signal}`}`);
    });
  }

  fail(message: string): void {
    const error = failed(message);
    this.ready.reject(error);
    this.done.reject(error);
    this.payersFinished.reject(error);
    this.settled.reject(error);
  }

  tell(message: LabMessage): void {
    // A channel that is closed means an exit that is noticed by itself.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  async stop(): Promise<void> {
    this.tell({ kind: 'stop' });
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    if (!this.#hasEnded) await this.gone.promise;
    clearTimeout(timer);
  }

  #end(): void {
    this.#hasEnded = true;
    this.gone.resolve(null);
  }
}

/** Starts the process and resolves when it is ready to begin: plan expanded, rehearsed, connected. On failure nothing is left running. */
export async function startGenerator(job: LoadJob, spawn: GeneratorSpawn = {}): Promise<RunningGenerator> {
  const jobPath = join(job.directory, 'load-job.json');
  await writeFile(jobPath, `${JSON.stringify(job, null, 2)}\n`);
  const output = spawn.logFd ?? 'ignore';
  const child = fork(spawn.entry ?? fileURLToPath(new URL('./main.js', import.meta.url)), [], {
    env: { ...process.env, [LOAD_JOB_VARIABLE]: jobPath },
    execArgv: [],
    stdio: ['ignore', output, output, 'ipc'],
  });
  const client = new Client(child, spawn);
  if (child.pid !== undefined) spawn.onSpawn?.(child.pid);
  const timeoutMs = spawn.readyTimeoutMs ?? 60_000;
  const timer = setTimeout(() => {
    client.fail(`it was not ready within ${String(timeoutMs)} ms`);
  }, timeoutMs);
  try {
    const ready = await client.ready.promise;
    return {
      pid: child.pid ?? 0,
      ready,
      stormDone: client.done.promise,
      start: (startAtMonoUs) => {
        client.tell({ kind: 'start', startAtMonoUs });
      },
      payersFinished: (timeoutMs) => {
        client.tell({ kind: 'finish-payers', timeoutMs });
        return client.payersFinished.promise;
      },
      finalPolls: () => {
        client.tell({ kind: 'settle' });
        return client.settled.promise;
      },
      stop: () => client.stop(),
    };
  } catch (error) {
    child.kill('SIGKILL');
    await client.gone.promise;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
