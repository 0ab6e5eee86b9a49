/**
 * One use of the broker by one kafkajs producer: from its connection to its first failure, never longer.
 *
 * kafkajs may stay broken for ever after a failure: a connection whose ApiVersions request timed out counts as connected but has no protocol
 * versions, so that every later call fails until the peer closes it. Replacing the whole producer costs one connection and two requests
 * (about 10 ms), and makes recovery independent of which of its caches went stale.
 */
import type { Socket } from 'node:net';

import { Partitioners, type Message, type Producer, type TopicMessages } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import { createKafka } from './kafka-client.js';
import type { SendResult } from './order-log-port.js';
import { classifySendError, isBrokerAnswer } from './send-outcome.js';

export interface SessionOptions {
  readonly address: HostPort;
  readonly clientId: string;
  readonly topics: readonly string[];
  readonly requestTimeoutMs: number;
  readonly connectionTimeoutMs: number;
  /** How long the broker may wait for its replicas. */
  readonly brokerTimeoutMs: number;
  /** Called once, when the session must not be used for new sends any more. */
  readonly onLost: (reason: string) => void;
}

export interface ProducerSession {
  /** Produces with acks=all; never rejects. */
  send(topicMessages: TopicMessages[]): Promise<SendResult>;
  /** Closes the connections once what is in flight has ended; never rejects. */
  close(): Promise<void>;
}

const PRODUCE_API_KEY = 0;

/** kafkajs writes each request by one `write` of the whole frame: 4 bytes of size, then the API key. */
function isProduceFrame(data: unknown): boolean {
  return Buffer.isBuffer(data) && data.length >= 6 && data.readInt16BE(4) === PRODUCE_API_KEY;
}

/** Calls `onFrame` before each produce request that this socket writes: the only proof that a send did not leave. */
function watchProduceFrames(socket: Socket, onFrame: () => void): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = ((...args: unknown[]): boolean => {
    if (isProduceFrame(args[0])) onFrame();
    return write(...args);
  });
}

class OpenSession implements ProducerSession {
  readonly #options: SessionOptions;
  readonly #producer: Producer;
  readonly #sockets = new Set<Socket>();
  #framesWritten = 0;
  /** `opening` and `closing` sessions report no loss. */
  #state: 'opening' | 'live' | 'over' = 'opening';

  constructor(options: SessionOptions) {
    this.#options = options;
    const kafka = createKafka({
      address: options.address,
      clientId: options.clientId,
      requestTimeoutMs: options.requestTimeoutMs,
      connectionTimeoutMs: options.connectionTimeoutMs,
      retries: 0,
      onSocket: (socket) => this.#watch(socket),
    });
    this.#producer = kafka.producer({
      // Not idempotent: after a lost answer kafkajs rolls the sequence back, and the broker then acknowledges the NEXT batch without storing it.
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 0 },
      metadataMaxAge: 300_000,
    });
  }

  async open(): Promise<void> {
    try {
      await this.#producer.connect();
      // A send without messages reads the metadata of its topics through this very connection and produces nothing.
      await this.#producer.sendBatch({ topicMessages: this.#options.topics.map((topic) => ({ topic, messages: [] as Message[] })) });
    } catch (error) {
      await this.close();
      throw error;
    }
    if ([...this.#sockets].every((socket) => socket.destroyed)) throw new Error('the connection closed while it was being opened');
    this.#state = 'live';
  }

  async send(topicMessages: TopicMessages[]): Promise<SendResult> {
    const framesBefore = this.#framesWritten;
    try {
      await this.#producer.sendBatch({ acks: -1, timeout: this.#options.brokerTimeoutMs, topicMessages });
      return { outcome: 'sent', reason: null };
    } catch (error) {
      const result = classifySendError(error, this.#framesWritten === framesBefore ? 'no' : 'maybe');
      if (!isBrokerAnswer(error)) this.#lose(result.reason ?? 'send failed');
      return result;
    }
  }

  async close(): Promise<void> {
    this.#state = 'over';
    // kafkajs waits for requests in flight, which a silent broker answers never: they end by their request timeout, and sockets then by force.
    const giveUp = setTimeout(() => this.#destroySockets(), this.#options.requestTimeoutMs + 200);
    try {
      await this.#producer.disconnect();
    } catch {
      // It is thrown away in any case.
    } finally {
      clearTimeout(giveUp);
      this.#destroySockets();
    }
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket);
    watchProduceFrames(socket, () => {
      this.#framesWritten += 1;
    });
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#lose('the broker closed the connection');
    });
  }

  #lose(reason: string): void {
    if (this.#state !== 'live') return;
    this.#state = 'over';
    this.#options.onLost(reason);
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** A session whose topics' metadata has been read; rejects with kafkajs's error when the broker cannot be used now. */
export async function openProducerSession(options: SessionOptions): Promise<ProducerSession> {
  const session = new OpenSession(options);
  await session.open();
  return session;
}
