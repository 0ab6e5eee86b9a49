/**
 * Kafka as the system sees it. Implemented with kafkajs 2.2.4 behind these ports (LIBRARIES §1 lists why each setting is what it is).
 */
import type { SendOutcome } from '../../domain/reason-codes.js';

export interface LogMessage {
  readonly key: string;
  readonly value: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SendResult {
  readonly outcome: SendOutcome;
  /** Root cause in words; null when sent. */
  readonly reason: string | null;
}

/** Micro-batching producer: non-idempotent, no retries, a whole budget per message counted from `send`. Never rejects. */
export interface LogProducer {
  send(topic: string, message: LogMessage): Promise<SendResult>;
  /** Metadata of the topics could be read through this producer's own connection. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ReceivedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as the broker had them: text loses what is no UTF-8, and does not tell an empty value from none. */
  readonly raw?: { readonly key: Buffer | null; readonly value: Buffer | null };
}

export interface BatchContext {
  /** Keeps the group membership during a long batch. Rejects when the group has moved on: stop and let the batch be redelivered. */
  heartbeat(): Promise<void>;
  /** False once the consumer stops or lost the partition. */
  isRunning(): boolean;
}

/**
 * Runs `handle` for each batch of one partition in offset order; offsets up to a batch's end are committed after `handle` resolves, and
 * only then. If `handle` rejects, the batch comes again. `fatal` settles when the consumer can no longer consume (a dead consumer is a
 * dead process, never a silent one).
 */
export interface LogConsumer {
  run(handle: (messages: readonly ReceivedMessage[], context: BatchContext) => Promise<void>, afterOffsetCommit: (messages: readonly ReceivedMessage[]) => void | Promise<void>): Promise<void>;
  /** Joined a group and owns its share of the partitions, or there is none to own. */
  ready(): boolean;
  readonly fatal: Promise<Error>;
  stop(): Promise<void>;
}
