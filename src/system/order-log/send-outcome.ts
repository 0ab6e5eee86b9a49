/**
 * Says what a failed produce call proves about its messages. kafkajs's outer errors prove nothing (`NonRetriableError` is used for transport
 * failures, `retriable` is false on exceeded retries), so the causes are walked to the root, and even the root is believed only where
 * nothing can have been written: the error of a cut connection may be replaced by that of the metadata refresh that follows it.
 */
import type { SendResult } from './order-log-port.js';

interface ErrorLike {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly cause?: unknown;
}

/** Thrown only while a request is being prepared, before any byte of it is written. */
const SURE_ROOTS: ReadonlySet<string> = new Set(['KafkaJSBrokerNotFound', 'KafkaJSMetadataNotLoaded', 'KafkaJSTopicMetadataNotLoaded']);

function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}

/** The last error of the chain of causes; a chain that bites its own tail ends where it does. */
export function rootCause(error: unknown): ErrorLike {
  const seen = new Set<unknown>();
  let current = error;
  while (isErrorLike(current) && isErrorLike(current.cause) && !seen.has(current.cause)) {
    seen.add(current);
    current = current.cause;
  }
  return isErrorLike(current) ? current : { name: 'Error', message: String(current) };
}

/**
 * `written`: whether a produce request may have left this client between the hand-over of the batch and its error. `no` is a proof and
 * decides alone; otherwise only roots that precede every write are `surely-not-sent`, and all the rest is `unknown`.
 */
export function classifySendError(error: unknown, written: 'no' | 'maybe'): SendResult {
  const root = rootCause(error);
  const code = typeof root.code === 'string' ? ` (${root.code})` : '';
  const reason = `${root.name}: ${root.message}${code}`;
  if (written === 'no' || SURE_ROOTS.has(root.name)) return { outcome: 'surely-not-sent', reason };
  return { outcome: 'unknown', reason };
}

/** The broker answered, so the connection is sound whatever the answer was. */
export function isBrokerAnswer(error: unknown): boolean {
  const root = rootCause(error);
  return root.name === 'KafkaJSProtocolError';
}
