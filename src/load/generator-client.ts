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

/** A process that is loaded and waits for a job; it may be given one after another. */
export interface WarmGenerator {
  readonly pid: number;
  isAlive(): boolean;
  /** As `startGenerator`, in this process; at most one job at a time. Its `stop` leaves the process waiting. */
  take(job: LoadJob, on?: Pick<GeneratorSpawn, 'onProgress' | 'readyTimeoutMs'>): Promise<RunningGenerator>;
  /** SIGKILL. Resolves when its exit was seen. */
  kill(): Promise<void>;
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

  constructor(child: ChildProcess, spawn: Pick<GeneratorSpawn, 'onProgress'>) {
    this.child = child;
    const onMessage = (raw: unknown): void => {
      const message = raw as GeneratorMessage;
      if (message.kind === 'ready') this.ready.resolve(message.report);
      else if (message.kind === 'progress') spawn.onProgress?.(message.progress);
      else if (message.kind === 'done') this.done.resolve(message.facts);
      else if (message.kind === 'payers-finished') this.payersFinished.resolve(message.unfinished);
      else if (message.kind === 'settled') this.settled.resolve({ asked: message.asked, unanswered: message.unanswered, gatewayMetrics: message.gatewayMetrics });
      else if (message.kind === 'stopped') this.#end();
      else this.fail(message.message);
    };
    const onError = (error: Error): void => {
      this.fail(error.message);
      // A process that could not be started never exits.
      if (child.pid === undefined) this.#end();
    };
    const onExit = (code: number | null, signal: string | null): void => {
      this.#end();
      this.fail(`it ended ${signal === null ? `with exit code ${String(code)}` : `by ${signal}`}`);
    };
    child.on('message', onMessage).on('error', onError).on('exit', onExit);
    // The next job of a warm process has a client of its own.
    void this.gone.promise.then(() => child.off('message', onMessage).off('error', onError).off('exit', onExit));
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

function forkMain(spawn: Pick<GeneratorSpawn, 'entry' | 'logFd' | 'onSpawn'>, env: Readonly<Record<string, string>>): ChildProcess {
  const output = spawn.logFd ?? 'ignore';
  const child = fork(spawn.entry ?? fileURLToPath(new URL('./main.js', import.meta.url)), [], {
    env: { ...process.env, ...env },
    execArgv: [],
    stdio: ['ignore', output, output, 'ipc'],
  });
  // Nobody may be listening any more when a signal or a message cannot be delivered; the exit tells it.
  child.on('error', () => undefined);
  if (child.pid !== undefined) spawn.onSpawn?.(child.pid);
  return child;
}

async function saveJob(job: LoadJob): Promise<string> {
  const path = join(job.directory, 'load-job.json');
  await writeFile(path, `${JSON.stringify(job, null, 2)}\n`);
  return path;
}

/** Starts the process and resolves when it is ready to begin: plan expanded, rehearsed, connected. On failure nothing is left running. */
export async function startGenerator(job: LoadJob, spawn: GeneratorSpawn = {}): Promise<RunningGenerator> {
  const child = forkMain(spawn, { [LOAD_JOB_VARIABLE]: await saveJob(job) });
  return runningOnceReady(new Client(child, spawn), spawn);
}

/** Forks a process that waits for jobs. */
export function forkWarmGenerator(spawn: Pick<GeneratorSpawn, 'entry' | 'logFd' | 'onSpawn'> = {}): WarmGenerator {
  const child = forkMain(spawn, {});
  let alive = child.pid !== undefined;
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      alive = false;
      resolve();
    });
    child.on('error', () => {
      if (child.pid === undefined) resolve();
    });
  });
  return {
    pid: child.pid ?? -1,
    isAlive: () => alive,
    async take(job, on = {}) {
      const path = await saveJob(job);
      const client = new Client(child, on);
      client.tell({ kind: 'job', path });
      return runningOnceReady(client, on);
    },
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function runningOnceReady(client: Client, spawn: Pick<GeneratorSpawn, 'readyTimeoutMs'>): Promise<RunningGenerator> {
  const { child } = client;
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
