// The dead letter on its topic: encoding, every problem of a malformed one, and what can be read of a broken original.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { deadLetterId, encodeDeadLetter, parseDeadLetter, readableIds, type DeadLetter } from './dead-letter.js';

const ID = '0197f1d0-0000-7000-8000-00000000000a';
const letter: DeadLetter = {
  schemaVersion: 1, originTopic: 'x.orders', originPartition: 3, originOffset: '42', group: 'x.order-create', cause: 'REFUSED', detail: 'P0001 no', attempts: 3,
  firstSeenAtMs: 1, deadAtMs: 2, messageId: ID, reservationId: ID, requestId: 'r-1', activityId: '1', skuId: '2', key: null,
  value: { encoding: 'utf8', text: '{}' }, valueBytes: 2, headers: { a: 'b' },
};

test('a letter comes back as it was, under the id of its original', () => {
  expect(parseDeadLetter(encodeDeadLetter(letter))).toEqual({ ok: true, letter });
  expect(deadLetterId(letter)).toBe('x.orders/3/42');
});

test.each(['', 'null', '[]', '"x"', '{}'])('%s is no letter', (text) => {
  expect(parseDeadLetter(text).ok).toBe(false);
});

test('every problem is told at once, and an id that is none does not get through', () => {
  const text = JSON.stringify({ ...letter, cause: 'BORED', attempts: 0, reservationId: "'; DROP", headers: { a: 1 }, originOffset: '-1', value: { text: 'x' } });
  const parsed = parseDeadLetter(text);
  if (parsed.ok) throw new Error('must not parse');
  for (const field of ['cause', 'attempts', 'reservationId', 'headers', 'originOffset', 'value']) expect(parsed.problems).toContain(`${field} is missing or malformed`);
  expect(parsed.problems).toHaveLength(6);
});

test('ids of a broken original are read only where they are whole', () => {
  const none = { messageId: null, reservationId: null, requestId: null, activityId: null, skuId: null };
  expect(readableIds('{"reservationId":')).toEqual(none);
  expect(readableIds(JSON.stringify({ reservationId: ID, requestId: 'r 1', userId: '1', skuId: '007', activityId: 7 }))).toEqual({ ...none, reservationId: ID });
});

test('whatever the text, nothing throws', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
    readableIds(text);
    parseDeadLetter(text);
  }));
});
