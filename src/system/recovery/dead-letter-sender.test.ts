// Sending a dead letter: it counts only when it is stored, it is the same letter each time, and it carries the original or says that it cannot.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { LETTER_BYTES_MAX, encodeDeadLetter, parseDeadLetter } from '../../domain/dead-letter.js';
import type { SendOutcome } from '../../domain/reason-codes.js';
import { CountingContext } from '../fulfilment/scripted-consumer.test-support.js';
import type { ReceivedMessage } from '../order-log/order-log-port.js';
import { createRoleMetrics } from '../role-metrics.js';
import { createDeadLetterSender, letterOf, originalBytes, type Failure } from './dead-letter-sender.js';

const failure: Failure = { cause: 'MALFORMED', detail: 'not JSON\0', attempts: 1, firstSeenAtMs: 5 };

function received(value: Buffer | null, headers: Readonly<Record<string, string>> = {}): ReceivedMessage {
  return { topic: 'x.orders', partition: 1, offset: '9', key: 'k', value: value?.toString() ?? '', headers, raw: { key: Buffer.from('k'), value } };
}

function sender(...outcomes: SendOutcome[]) {
  const sent: { readonly topic: string; readonly key: string; readonly value: string }[] = [];
  let opened = 0;
  const metrics = createRoleMetrics('consumer', 'consumer-1');
  const made = createDeadLetterSender({
    openProducer: () => {
      opened += 1;
      return {
        send: (topic, { key, value }) => {
          sent.push({ topic, key, value });
          return Promise.resolve({ outcome: outcomes[sent.length - 1] ?? 'sent', reason: null });
        },
        ready: () => Promise.resolve(true),
        close: () => Promise.resolve(),
      };
    },
    topic: 'x.dead-letters', group: 'x.order-create', metrics, surroundings: { clock: systemClock, observer: { reached: () => undefined }, log: () => undefined },
  });
  return { made, sent, metrics, opened: () => opened };
}

test('what is unknown or not sent is sent again as the same letter, with heartbeats, and counted once', async () => {
  const { made, sent, metrics, opened } = sender('unknown', 'surely-not-sent', 'sent');
  const context = new CountingContext();
  expect(opened()).toBe(0);
  await made.bury(received(Buffer.from('no message')), failure, context);
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ value }) => value)).size).toBe(1);
  expect(sent[0]).toMatchObject({ topic: 'x.dead-letters', key: 'x.orders/1/9' });
  expect(context.heartbeats).toBeGreaterThanOrEqual(5);
  expect(await metrics.text()).toMatch(/dlq_message_total\{cause="MALFORMED".*\} 1/);
});

test('a consumer that stops before the letter is stored does not say that it is', async () => {
  const { made } = sender('unknown', 'unknown');
  const context = new CountingContext();
  const burying = made.bury(received(Buffer.from('x')), failure, context);
  context.running = false;
  await expect(burying).rejects.toThrow('its message comes again');
});

test('the original comes back byte for byte, whatever it was', () => {
  fc.assert(fc.property(fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null }), (bytes) => {
    const value = bytes === null ? null : Buffer.from(bytes);
    const letter = letterOf(received(value, { h: 'v' }), failure, 'g', 7);
    const parsed = parseDeadLetter(encodeDeadLetter(letter));
    if (!parsed.ok) throw new Error(parsed.problems.join());
    expect(parsed.letter).toEqual(letter);
    expect(parsed.letter.value === null ? null : originalBytes(parsed.letter.value)).toEqual(value);
    expect(parsed.letter).toMatchObject({ detail: 'not JSON', headers: { h: 'v' }, valueBytes: value?.length ?? 0 });
  }));
});

test('a letter always fits into a record of the broker', () => {
  const escaped = letterOf(received(Buffer.alloc(600_000, 1)), failure, 'g', 7);
  expect(escaped).toMatchObject({ value: null, valueBytes: 600_000, key: { text: 'k' } });
  const heads = letterOf(received(Buffer.from('x'), { h: 'x'.repeat(LETTER_BYTES_MAX) }), failure, 'g', 7);
  expect(Buffer.byteLength(encodeDeadLetter(heads))).toBeLessThan(LETTER_BYTES_MAX);
});
