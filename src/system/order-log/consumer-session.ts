/**
 * One life of a kafkajs group member. It ends when kafkajs gives up for good, or when it shows no sign of life: kafkajs has been seen to loop
 * in rebalances and to lose wake-ups (CASES C18), and a cut connection alone can make it crash without a restart.
 */
import type { Consumer, EachBatchPayload } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { createKafka } from './kafka-client.js';

export interface ConsumerSessionOptions {
  readonly address: HostPort;
  readonly clientId: string;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly partitionsConcurrently: number;
  readonly maxBytesPerPartition: number;
  readonly log: RoleSurroundings['log'];
  readonly eachBatch: (payload: EachBatchPayload) => Promise<void>;
  /** kafkajs will not come back by itself. Called at most once. */
  readonly onDead: (error: Error) => void;
}

/** Waits of a fetch; short, since this is the floor of the latency of a lone message. */
const FETCH_WAIT_MS = 50;
/** A request of the group protocol or a fetch without answer. Joins take longer by their own rules. */
const REQUEST_TIMEOUT_MS = 4_000;

export class ConsumerSession {
  readonly #consumer: Consumer;
  readonly #options: ConsumerSessionOptions;
  #joined = false;
  #lastSignMs = performance.now();
  #ended = false;

  constructor(options: ConsumerSessionOptions) {
    this.#options = options;
    const kafka = createKafka({
      address: options.address,
      clientId: options.clientId,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      connectionTimeoutMs: 1_000,
      retries: 4,
      log: options.log,
    });
    this.#consumer = kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: options.sessionTimeoutMs,
      heartbeatInterval: Math.max(200, Math.floor(options.sessionTimeoutMs / 6)),
      rebalanceTimeout: Math.max(10_000, options.sessionTimeoutMs * 2),
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: options.maxBytesPerPartition,
      allowAutoTopicCreation: false,
      // New partitions or a moved leader are noticed within this, not within the default five minutes.
      metadataMaxAge: 30_000,
    });
    this.#listen();
  }

  /** Joins the group in the background of kafkajs; rejects when the broker or the topic cannot be used now. */
  async start(): Promise<void> {
    await this.#consumer.connect();
    // A fresh group reads everything there is: what was reserved before its first join must not be skipped (CASES C21).
    await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.#options.partitionsConcurrently,
      eachBatch: (payload) => this.#options.eachBatch(payload),
    });
  }

  get joined(): boolean {
    return this.#joined && !this.#ended;
  }

  /** Work in hand counts as a sign of life: a handler that waits for its database tells by this. */
  noteSignOfLife(): void {
    this.#lastSignMs = performance.now();
  }

  silentForMs(): number {
    return performance.now() - this.#lastSignMs;
  }

  /** Waits for the batch in hand, leaves the group and disconnects; gives up waiting after `timeoutMs`. Never rejects. */
  async stop(timeoutMs: number): Promise<void> {
    this.#ended = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const disconnect = this.#consumer.disconnect().catch((error: unknown) => {
      this.#options.log('warn', 'the consumer did not disconnect cleanly', { reason: String(error) });
    });
    await Promise.race([disconnect, late]);
    clearTimeout(timer);
  }

  #listen(): void {
    const { events } = this.#consumer;
    const sign = (): void => this.noteSignOfLife();
    this.#consumer.on(events.FETCH, sign);
    this.#consumer.on(events.HEARTBEAT, sign);
    this.#consumer.on(events.END_BATCH_PROCESS, sign);
    this.#consumer.on(events.GROUP_JOIN, () => {
      this.#joined = true;
      sign();
    });
    this.#consumer.on(events.REBALANCING, () => {
      this.#joined = false;
    });
    this.#consumer.on(events.DISCONNECT, () => {
      this.#joined = false;
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#joined = false;
      if (this.#ended) return;
      this.#options.log('warn', 'the consumer crashed', { reason: payload.error.message, restarts: payload.restart });
      if (payload.restart) return;
      this.#ended = true;
      this.#options.onDead(payload.error);
    });
  }
}
