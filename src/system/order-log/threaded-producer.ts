/**
 * The gateway's producer in a thread of its own. kafkajs takes some 20 µs a message; in the thread of the requests ten thousand winners would hold up everybody for
 * a fifth of a second, just when it matters. The thread may be given a low priority: who reserves goes before who hands over.
 *
 * The budget of a message counts from `send` here, whatever the thread does: without word of it by then its outcome is `unknown`.
 */
import { Worker } from 'node:worker_threads';

import type { RoleSurroundings } from '../role.js';
import type { LogMessage, LogProducer, SendResult } from './order-log-port.js';
import type { ProducerOptions } from './steady-producer.js';

export interface ThreadSettings extends Omit<ProducerOptions, 'log'> {
  readonly sendBudgetMs: number;
  readonly nice: number;
}

/** What goes to the thread. The ids of a batch are `first`, `first + 1`, … */
export type LineToThread =
  | { readonly kind: 'send'; readonly first: number; readonly topics: readonly string[]; readonly messages: readonly LogMessage[] }
  | { readonly kind: 'ready' | 'close'; readonly ask: number };

/** What comes from it. Results: id and outcome, in any order. */
export type LineFromThread =
  | { readonly kind: 'results'; readonly ids: readonly number[]; readonly results: readonly SendResult[] }
  | { readonly kind: 'answer'; readonly ask: number; readonly value: boolean }
  | { readonly kind: 'log'; readonly line: Parameters<RoleSurroundings['log']> };

/** The part of a `Worker` that is used; tests put a channel of their own in its place. */
export interface ProducerThread {
  postMessage(line: LineToThread): void;
  on(event: 'message', listener: (line: LineFromThread) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  terminate(): Promise<unknown>;
}

/** A health check does not wait for a starved thread. */
const ASK_TIMEOUT_MS = 500;
const CLOSE_GRACE_MS = 1_000;

interface Entry {
  readonly deadlineMs: number;
  resolve: ((result: SendResult) => void) | null;
}

class ThreadedProducer implements LogProducer {
  readonly #thread: ProducerThread;
  readonly #budgetMs: number;
  readonly #log: RoleSurroundings['log'];
  /** From id `#oldest` on, in the order of their deadlines: the budget is one constant. */
  #entries: Entry[] = [];
  #oldest = 0;
  #next = 0;
  #topics: string[] = [];
  #messages: LogMessage[] = [];
  #timer: NodeJS.Timeout | null = null;
  readonly #asks = new Map<number, (value: boolean) => void>();
  #asked = 0;
  #ended: string | null = null;

  constructor(thread: ProducerThread, { sendBudgetMs }: Pick<ThreadSettings, 'sendBudgetMs'>, log: RoleSurroundings['log']) {
    this.#thread = thread;
    this.#budgetMs = sendBudgetMs;
    this.#log = log;
    thread.on('message', (line) => { this.#heard(line); });
    thread.on('error', (error) => {
      // A bug: nothing of kafkajs throws out of the thread. What was handed over may have been sent.
      this.#ended = `the producer's thread has ended: ${error.message}`;
      this.#log('error', this.#ended);
      this.#settleUntil(Infinity);
    });
  }

  send(topic: string, message: LogMessage): Promise<SendResult> {
    if (this.#ended !== null) return Promise.resolve({ outcome: 'surely-not-sent', reason: this.#ended });
    return new Promise((resolve) => {
      if (this.#messages.length === 0) setImmediate(() => { this.#flush(); });
      this.#topics.push(topic);
      this.#messages.push(message);
      this.#entries.push({ deadlineMs: performance.now() + this.#budgetMs, resolve });
      this.#next += 1;
      this.#timer ??= setTimeout(() => { this.#expire(); }, this.#budgetMs);
    });
  }

  ready(): Promise<boolean> {
    return this.#ask('ready', ASK_TIMEOUT_MS);
  }

  async close(): Promise<void> {
    if (this.#ended !== null) return;
    this.#flush();
    this.#ended = 'the producer is closed';
    await this.#ask('close', this.#budgetMs + CLOSE_GRACE_MS);
    this.#settleUntil(Infinity);
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#thread.terminate();
  }

  #ask(kind: 'ready' | 'close', timeoutMs: number): Promise<boolean> {
    this.#asked += 1;
    const ask = this.#asked;
    return new Promise((resolve) => {
      const timer = setTimeout(() => { settle(false); }, timeoutMs);
      const settle = (value: boolean): void => {
        clearTimeout(timer);
        this.#asks.delete(ask);
        resolve(value);
      };
      this.#asks.set(ask, settle);
      this.#thread.postMessage({ kind, ask });
    });
  }

  #flush(): void {
    if (this.#messages.length === 0) return;
    const [topics, messages] = [this.#topics, this.#messages];
    this.#topics = [];
    this.#messages = [];
    this.#thread.postMessage({ kind: 'send', first: this.#next - messages.length, topics, messages });
  }

  #heard(line: LineFromThread): void {
    switch (line.kind) {
      case 'results':
        for (const [index, id] of line.ids.entries()) this.#settle(id, line.results[index] ?? { outcome: 'unknown', reason: 'the thread told no outcome' });
        return;
      case 'answer':
        this.#asks.get(line.ask)?.(line.value);
        return;
      case 'log':
        this.#log(...line.line);
        return;
    }
  }

  #settle(id: number, result: SendResult): void {
    const entry = this.#entries[id - this.#oldest];
    entry?.resolve?.(result);
    if (entry !== undefined) entry.resolve = null;
  }

  #expire(): void {
    this.#timer = null;
    this.#settleUntil(performance.now());
    const first = this.#entries[0];
    if (first !== undefined) this.#timer = setTimeout(() => { this.#expire(); }, Math.max(1, Math.ceil(first.deadlineMs - performance.now())));
  }

  /** Ends what is out of its budget, and forgets what has ended at the front. */
  #settleUntil(nowMs: number): void {
    let done = 0;
    for (const entry of this.#entries) {
      if (entry.resolve !== null) {
        if (entry.deadlineMs > nowMs) break;
        entry.resolve({ outcome: 'unknown', reason: `no word of the broker within ${String(this.#budgetMs)} ms` });
        entry.resolve = null;
      }
      done += 1;
    }
    this.#entries = this.#entries.slice(done);
    this.#oldest += done;
  }
}

function startThread(settings: ThreadSettings): ProducerThread {
  return new Worker(new URL('./producer-thread.js', import.meta.url), { workerData: settings });
}

/** `start`: for tests. */
export function createThreadedProducer(settings: ThreadSettings, log: RoleSurroundings['log'], start: (settings: ThreadSettings) => ProducerThread = startThread): LogProducer {
  return new ThreadedProducer(start(settings), settings, log);
}
