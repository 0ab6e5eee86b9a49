/**
 * The micro-batching producer behind `LogProducer`: at most `maxBatch` messages a request and `maxInFlight` requests at once, sent as soon as
 * the event loop has collected what arrived together (a linger gains nothing under load, LIBRARIES §1.8), without retries.
 *
 * Each message has a whole budget counted from `send`. One that was never handed to kafkajs within it is `surely-not-sent`; one that was
 * handed over and has no answer is `unknown`. Every promise settles when its budget is over, whatever the broker or kafkajs does.
 */
import type { TopicMessages } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import type { LogMessage, LogProducer, SendResult } from './order-log-port.js';
import { openProducerSession, type ProducerSession, type SessionOptions } from './producer-session.js';
import { rootCause } from './send-outcome.js';

export interface BatchingProducerOptions {
  readonly address: HostPort;
  readonly clientId: string;
  /** Topics whose metadata is read when a connection is opened. */
  readonly topics: readonly string[];
  /** Whole budget of one message, counted from `send`. */
  readonly budgetMs: number;
  readonly requestTimeoutMs: number;
  readonly connectionTimeoutMs: number;
  readonly maxBatch: number;
  readonly maxInFlight: number;
  readonly maxQueued: number;
  readonly log: RoleSurroundings['log'];
  /** For tests: how a session is opened. */
  readonly openSession?: (options: SessionOptions) => Promise<ProducerSession>;
}

interface Entry {
  readonly topic: string;
  readonly message: LogMessage;
  readonly deadlineMs: number;
  readonly resolve: (result: SendResult) => void;
  state: 'queued' | 'handed-over' | 'settled';
}

/** Between two tries to open a session. Short: recovery after an outage is one of the things measured. */
const REOPEN_DELAY_MS = 100;

class BatchingProducer implements LogProducer {
  readonly #options: BatchingProducerOptions;
  readonly #open: (options: SessionOptions) => Promise<ProducerSession>;
  #session: ProducerSession | null = null;
  #opening: Promise<void> | null = null;
  #reopenTimer: NodeJS.Timeout | null = null;
  #outageSinceMs: number | null = null;
  #queue: Entry[] = [];
  /** All unsettled entries, oldest first: the budget is one constant, so this is also the order of the deadlines. */
  #unsettled: Entry[] = [];
  #unsettledHead = 0;
  #deadlineTimer: NodeJS.Timeout | null = null;
  #pumpScheduled = false;
  /**
   * Requests of the session in use. Those of a lost one are not waited for: kafkajs reads the metadata anew before it gives them back, and was seen to take a request's
   * whole time-out for it. While all four still counted, the producer stood still for 2.2 s of a budget of 3 s after one lost answer.
   */
  #inFlight = 0;
  #closed = false;

  constructor(options: BatchingProducerOptions) {
    this.#options = options;
    this.#open = options.openSession ?? openProducerSession;
    this.#openInBackground();
  }

  send(topic: string, message: LogMessage): Promise<SendResult> {
    if (this.#closed) return Promise.resolve({ outcome: 'surely-not-sent', reason: 'the producer is closed' });
    if (this.#queue.length >= this.#options.maxQueued) return Promise.resolve({ outcome: 'surely-not-sent', reason: 'the queue of the producer is full' });
    return new Promise((resolve) => {
      const entry: Entry = { topic, message, deadlineMs: performance.now() + this.#options.budgetMs, resolve, state: 'queued' };
      this.#queue.push(entry);
      this.#unsettled.push(entry);
      this.#armDeadline();
      this.#schedulePump();
    });
  }

  async ready(): Promise<boolean> {
    // A session is usually open within 20 ms; a health check does not wait for the whole time-out of a silent broker.
    if (this.#session === null && this.#opening !== null) await Promise.race([this.#opening, new Promise((resolve) => setTimeout(resolve, 250))]);
    return this.#session !== null;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const last = this.#unsettled.at(-1);
    // What was accepted before is sent or runs out of its budget; nothing new comes in.
    this.#closed = true;
    if (last !== undefined && last.state !== 'settled') await this.#settledOrOverdue(last);
    if (this.#reopenTimer !== null) clearTimeout(this.#reopenTimer);
    if (this.#deadlineTimer !== null) clearTimeout(this.#deadlineTimer);
    await this.#opening;
    const session = this.#session;
    this.#session = null;
    await session?.close();
  }

  #settledOrOverdue(entry: Entry): Promise<void> {
    return new Promise((resolve) => {
      const poll = setInterval(() => {
        if (this.#unsettled.slice(this.#unsettledHead).some(({ state }) => state !== 'settled') && performance.now() < entry.deadlineMs + 50) return;
        clearInterval(poll);
        resolve();
      }, 5);
    });
  }

  #schedulePump(): void {
    if (this.#pumpScheduled || this.#session === null || this.#inFlight >= this.#options.maxInFlight || this.#queue.length === 0) return;
    this.#pumpScheduled = true;
    setImmediate(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#session !== null && this.#queue.length > 0 && this.#inFlight < this.#options.maxInFlight) {
      const batch = this.#queue.splice(0, this.#options.maxBatch).filter(({ state }) => state === 'queued');
      if (batch.length > 0) void this.#dispatch(this.#session, batch);
    }
  }

  async #dispatch(session: ProducerSession, batch: readonly Entry[]): Promise<void> {
    this.#inFlight += 1;
    for (const entry of batch) entry.state = 'handed-over';
    let result: SendResult;
    try {
      result = await session.send(groupByTopic(batch));
    } catch (error) {
      // A session never rejects; if it does all the same, nothing is known.
      result = { outcome: 'unknown', reason: rootCause(error).message };
    }
    if (this.#session === session) this.#inFlight -= 1;
    for (const entry of batch) this.#settle(entry, result);
    this.#schedulePump();
  }

  #settle(entry: Entry, result: SendResult): void {
    if (entry.state === 'settled') return;
    entry.state = 'settled';
    entry.resolve(result);
  }

  #armDeadline(): void {
    if (this.#deadlineTimer !== null) return;
    while (this.#unsettledHead < this.#unsettled.length && this.#unsettled[this.#unsettledHead]?.state === 'settled') this.#unsettledHead += 1;
    if (this.#unsettledHead > 4_096 || this.#unsettledHead === this.#unsettled.length) {
      this.#unsettled = this.#unsettled.slice(this.#unsettledHead);
      this.#unsettledHead = 0;
    }
    const oldest = this.#unsettled[this.#unsettledHead];
    if (oldest === undefined) return;
    this.#deadlineTimer = setTimeout(() => this.#expire(), Math.max(1, Math.ceil(oldest.deadlineMs - performance.now())));
  }

  #expire(): void {
    this.#deadlineTimer = null;
    const now = performance.now();
    const budget = String(this.#options.budgetMs);
    for (let index = this.#unsettledHead; index < this.#unsettled.length; index += 1) {
      const entry = this.#unsettled[index];
      if (entry === undefined || entry.deadlineMs > now) break;
      if (entry.state === 'queued') this.#settle(entry, { outcome: 'surely-not-sent', reason: `not handed to the broker within ${budget} ms` });
      else this.#settle(entry, { outcome: 'unknown', reason: `no answer of the broker within ${budget} ms` });
    }
    // Without a session nothing pumps, so the queue is cleared of the dead here.
    if (this.#queue[0]?.state === 'settled') this.#queue = this.#queue.filter(({ state }) => state === 'queued');
    this.#armDeadline();
  }

  #openInBackground(): void {
    if (this.#closed || this.#opening !== null || this.#session !== null) return;
    this.#opening = this.#openOnce().finally(() => {
      this.#opening = null;
      if (this.#session !== null || this.#closed) return;
      this.#reopenTimer = setTimeout(() => this.#openInBackground(), REOPEN_DELAY_MS);
    });
  }

  async #openOnce(): Promise<void> {
    const { address, clientId, topics, requestTimeoutMs, connectionTimeoutMs, budgetMs } = this.#options;
    let session: ProducerSession | null = null;
    const onLost = (reason: string): void => {
      if (session !== null) this.#replace(session, reason);
    };
    try {
      session = await this.#open({ address, clientId, topics, requestTimeoutMs, connectionTimeoutMs, brokerTimeoutMs: budgetMs, onLost });
    } catch (error) {
      this.#noteOutage(rootCause(error).message);
      return;
    }
    if (this.#outageSinceMs !== null) this.#options.log('info', 'the broker answers again', { outageMs: Math.round(performance.now() - this.#outageSinceMs) });
    this.#outageSinceMs = null;
    this.#session = session;
    this.#inFlight = 0;
    this.#schedulePump();
  }

  #replace(session: ProducerSession, reason: string): void {
    if (this.#session !== session) return;
    this.#session = null;
    this.#noteOutage(reason);
    void session.close();
    this.#openInBackground();
  }

  #noteOutage(reason: string): void {
    // One line per outage: a storm of failed sends must not become a storm of log lines.
    if (this.#outageSinceMs !== null || this.#closed) return;
    this.#outageSinceMs = performance.now();
    this.#options.log('warn', 'the broker cannot be used; a new connection is being made', { reason });
  }
}

function groupByTopic(batch: readonly Entry[]): TopicMessages[] {
  const byTopic = new Map<string, TopicMessages>();
  for (const { topic, message } of batch) {
    let group = byTopic.get(topic);
    if (group === undefined) {
      group = { topic, messages: [] };
      byTopic.set(topic, group);
    }
    group.messages.push({ key: message.key, value: message.value, ...(message.headers === undefined ? {} : { headers: { ...message.headers } }) });
  }
  return [...byTopic.values()];
}

/** The gateway's producer; connects in the background and needs no call to start. */
export function createBatchingProducer(options: BatchingProducerOptions): LogProducer {
  return new BatchingProducer(options);
}
