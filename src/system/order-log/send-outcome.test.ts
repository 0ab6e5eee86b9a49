/** The classification of kafkajs's errors, with real kafkajs error objects nested the way kafkajs nests them. */
import { createRequire } from 'node:module';

import { expect, test } from 'vitest';

import { classifySendError, isBrokerAnswer, rootCause } from './send-outcome.js';

type ErrorClass = new (message: unknown, options?: object) => Error;
const errors = createRequire(import.meta.url)('kafkajs/src/errors') as Record<string, ErrorClass>;

function make(name: string, message: string | Error, options: object = {}): Error {
  const Class = errors[name];
  if (Class === undefined) throw new Error(`kafkajs has no ${name}`);
  return new Class(message, options);
}
const exceeded = (cause: Error): Error => make('KafkaJSNumberOfRetriesExceeded', cause, { retryCount: 0, retryTime: 1 });
const nonRetriable = (cause: Error): Error => make('KafkaJSNonRetriableError', cause, { cause });

const roots: readonly (readonly [string, Error, 'unknown' | 'surely-not-sent'])[] = [
  ['request timeout', make('KafkaJSRequestTimeoutError', 'Request Produce timed out'), 'unknown'],
  ['connection closed', make('KafkaJSConnectionClosedError', 'Closed connection', { host: 'h', port: 1 }), 'unknown'],
  ['reset', make('KafkaJSConnectionError', 'Connection error: read ECONNRESET', { code: 'ECONNRESET' }), 'unknown'],
  ['broken pipe', make('KafkaJSConnectionError', 'Connection error: write EPIPE', { code: 'EPIPE' }), 'unknown'],
  // May come from the metadata refresh after a cut, so the name alone proves nothing.
  ['refused', make('KafkaJSConnectionError', 'Connection error: connect ECONNREFUSED', { code: 'ECONNREFUSED' }), 'unknown'],
  ['connection timeout', make('KafkaJSConnectionError', 'Connection timeout'), 'unknown'],
  ['lock timeout', make('KafkaJSLockTimeout', 'Timeout while acquiring lock'), 'unknown'],
  ['protocol error', make('KafkaJSProtocolError', 'not leader'), 'unknown'],
  ['broker not found', make('KafkaJSBrokerNotFound', 'Broker 1 not found'), 'surely-not-sent'],
  ['no metadata', make('KafkaJSMetadataNotLoaded', 'Producing to topic without metadata'), 'surely-not-sent'],
  ['no topic metadata', make('KafkaJSTopicMetadataNotLoaded', 'Topic metadata not loaded', { topic: 't' }), 'surely-not-sent'],
  ['a bug', new TypeError('undefined is not a function'), 'unknown'],
];

test.each(roots)('%s, wrapped in either outer error, is judged by its root', (_name, root, whenMaybeWritten) => {
  for (const error of [root, exceeded(root), nonRetriable(root), exceeded(nonRetriable(root))]) {
    expect(classifySendError(error, 'maybe').outcome).toBe(whenMaybeWritten);
    expect(classifySendError(error, 'no').outcome).toBe('surely-not-sent');
    expect(rootCause(error).name).toBe(root.name);
  }
});

test('what is not an error, or a chain that bites its tail, is unknown and does not hang', () => {
  expect(classifySendError('odd', 'maybe').outcome).toBe('unknown');
  expect(classifySendError(undefined, 'maybe').outcome).toBe('unknown');
  const loop = new Error('a') as Error & { cause: unknown };
  loop.cause = Object.assign(new Error('b'), { cause: loop });
  expect(classifySendError(loop, 'maybe').outcome).toBe('unknown');
});

test('only an answer of the broker proves the connection sound', () => {
  expect(isBrokerAnswer(exceeded(make('KafkaJSProtocolError', 'too large')))).toBe(true);
  expect(isBrokerAnswer(exceeded(make('KafkaJSRequestTimeoutError', 'timed out')))).toBe(false);
});
