/** A log consumer whose batches are handed over by the test, a batch context that counts, and a sender of dead letters that keeps them. */
import { encodeOrderMessage, type OrderMessage } from '../../domain/order-message.js';
import type { DeadLetterSender, Failure } from '../recovery/dead-letter-sender.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';

type Handle = Parameters<LogConsumer['run']>[0];
type AfterCommit = Parameters<LogConsumer['run']>[1];

export class ScriptedConsumer implements LogConsumer {
  readonly fatal: Promise<Error>;
  /** Batches whose offsets may be committed. */
  readonly finished: (readonly ReceivedMessage[])[] = [];
  stopped = false;
  readonly #ready: Promise<void>;
  #setReady: () => void = () => undefined;
  #handle: Handle | null = null;
  #afterCommit: AfterCommit | null = null;
  #fail: (error: Error) => void = () => undefined;

  constructor() {
    this.fatal = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
  }

  run(handle: Handle, afterOffsetCommit: AfterCommit): Promise<void> {
    this.#handle = handle;
    this.#afterCommit = afterOffsetCommit;
    this.#setReady();
    return Promise.resolve();
  }

  ready(): boolean {
    return this.#handle !== null;
  }

  die(error: Error): void {
    this.#fail(error);
  }

  stop(): Promise<void> {
    this.stopped = true;
    return Promise.resolve();
  }

  /** One batch as the broker would give it: the offset is committed only if the handler resolves. */
  async deliver(records: readonly ReceivedMessage[], context: BatchContext = new CountingContext()): Promise<void> {
    await this.#ready;
    await this.#handle?.(records, context);
    this.finished.push(records);
    await this.#afterCommit?.(records);
  }
}

export class CountingContext implements BatchContext {
  heartbeats = 0;
  running = true;
  lostWith: Error | null = null;

  heartbeat(): Promise<void> {
    this.heartbeats += 1;
    return this.lostWith === null ? Promise.resolve() : Promise.reject(this.lostWith);
  }

  isRunning(): boolean {
    return this.running;
  }
}

export class KeptDeadLetters implements DeadLetterSender {
  readonly letters: ({ readonly offset: string } & Failure)[] = [];

  bury(record: ReceivedMessage, failure: Failure): Promise<void> {
    this.letters.push({ offset: record.offset, ...failure });
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export function record(value: string, offset: number, key = 'key'): ReceivedMessage {
  return { topic: 'orders', partition: 0, offset: String(offset), key, value, headers: {} };
}

export function recordsOf(messages: readonly OrderMessage[]): ReceivedMessage[] {
  return messages.map((message, place) => record(encodeOrderMessage(message), place, message.reservationId));
}
