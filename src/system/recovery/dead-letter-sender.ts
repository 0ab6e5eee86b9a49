/**
 * Puts a message that cannot be worked off onto the dead-letter topic, so that its partition goes on (paper `000` §7.4, CASES C22).
 *
 * A dead letter counts only when the broker says that it is stored: until then the caller's offset stays where it is. What is unknown is sent
 * again as the same letter; its id is the place of the original, so a second copy is one and the same to every reader.
 */
import { setTimeout as delay } from 'node:timers/promises';

import {
  DETAIL_MAX, LETTER_BYTES_MAX, deadLetterId, encodeDeadLetter, readableIds, DeadLetterCause, type DeadLetter, type DeadLetterBytes,
} from '../../domain/dead-letter.js';
import { BatchInterrupted, withHeartbeats } from '../fulfilment/with-heartbeats.js';
import type { BatchContext, LogProducer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';

/** Waits between tries: 100 ms, growing to 1 s. A broker that is away is waited for; it never makes a letter vanish. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

export interface Failure {
  readonly cause: DeadLetterCause;
  /** In words. */
  readonly detail: string;
  /** How often the message was tried. */
  readonly attempts: number;
  readonly firstSeenAtMs: number;
}

export interface DeadLetterSender {
  /**
   * Resolves when the broker has stored the letter. Rejects with `BatchInterrupted` when the partition is no longer ours, or with the heartbeat's
   * error; then no offset may be committed, and the message comes again.
   */
  bury(record: ReceivedMessage, failure: Failure, context: BatchContext): Promise<void>;
  close(): Promise<void>;
}

export interface DeadLetterSenderParts {
  /** Opened at the first letter: a run without one needs no further connection. */
  readonly openProducer: () => LogProducer;
  readonly topic: string;
  readonly group: string;
  readonly metrics: RoleMetrics;
  readonly surroundings: RoleSurroundings;
}

export function createDeadLetterSender(parts: DeadLetterSenderParts): DeadLetterSender {
  const { topic, group, metrics, surroundings } = parts;
  let producer: LogProducer | null = null;
  const buried = (cause: Failure['cause']) => metrics.counter('dlq_message_total', 'Messages given up on and kept as dead letters, by cause', { cause });
  // From the start on, so that the first letter is a step from 0.
  for (const cause of Object.values(DeadLetterCause)) buried(cause);
  return {
    async bury(record, failure, context) {
      const letter = letterOf(record, failure, group, surroundings.clock.nowMs());
      const id = deadLetterId(letter);
      const message = { key: letter.reservationId ?? id, value: encodeDeadLetter(letter) };
      producer ??= parts.openProducer();
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        if (!context.isRunning()) throw new BatchInterrupted('stopped while a dead letter was being sent; its message comes again');
        const { outcome, reason } = await withHeartbeats(producer.send(topic, message), context);
        if (outcome === 'sent') break;
        surroundings.log('warn', 'a dead letter is not stored yet', { deadLetterId: id, outcome, reason });
        await withHeartbeats(delay(pauseMs), context);
      }
      buried(failure.cause).add();
      surroundings.log('error', 'message became a dead letter', {
        deadLetterId: id, cause: failure.cause, detail: letter.detail, attempts: failure.attempts, messageId: letter.messageId, reservationId: letter.reservationId,
      });
    },
    async close() {
      await producer?.close();
    },
  };
}

/**
 * The letter of a record. `nowMs`: milliseconds since the epoch. What would not fit into one record of the broker is left out, the value first:
 * a letter that cannot be sent would block the partition that it is to free, and the original is found by its place.
 */
export function letterOf(record: ReceivedMessage, failure: Failure, group: string, nowMs: number): DeadLetter {
  const value = record.raw === undefined ? Buffer.from(record.value) : record.raw.value;
  const key = record.raw === undefined ? Buffer.from(record.key) : record.raw.key;
  const whole: DeadLetter = {
    schemaVersion: 1,
    originTopic: record.topic,
    originPartition: record.partition,
    originOffset: record.offset,
    group,
    cause: failure.cause,
    detail: failure.detail.replaceAll('\0', '').slice(0, DETAIL_MAX),
    attempts: failure.attempts,
    firstSeenAtMs: failure.firstSeenAtMs,
    deadAtMs: nowMs,
    ...readableIds(record.value),
    key: key === null ? null : bytesOf(key),
    value: value === null ? null : bytesOf(value),
    valueBytes: value?.length ?? 0,
    headers: record.headers,
  };
  const withoutValue: DeadLetter = { ...whole, value: null };
  return [whole, withoutValue].find((letter) => Buffer.byteLength(encodeDeadLetter(letter)) <= LETTER_BYTES_MAX) ?? { ...withoutValue, key: null, headers: {} };
}

function bytesOf(bytes: Buffer): DeadLetterBytes {
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return { encoding: 'utf8', text };
  return { encoding: 'base64', text: bytes.toString('base64') };
}

/** The bytes that `bytesOf` was given. */
export function originalBytes(bytes: DeadLetterBytes): Buffer {
  return Buffer.from(bytes.text, bytes.encoding);
}
