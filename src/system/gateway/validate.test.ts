/** All problems at once, and a payload hash that means the payload. */
import { expect, test } from 'vitest';

import { payloadHashOf, validateReservation, type RawReservation } from './validate.js';

const GOOD: RawReservation = { activityId: '1', skuId: '2', requestId: 'A-z_0.:', userId: '9223372036854775807', body: '{"quantity":1,"clientTag":"x"}' };

test('every problem of a request is found at once', () => {
  const result = validateReservation({ activityId: '01', skuId: '-1', requestId: 'ü', userId: '9223372036854775808', body: '{"quantity":2,"clientTag":7,"coupon":1}' });
  expect(result).toMatchObject({ ok: false, requestId: null });
  if (!result.ok) expect(result.problems).toHaveLength(7);
});

test.each([
  ['no headers', { requestId: undefined, userId: undefined }, 2],
  ['an empty key', { requestId: '' }, 1],
  ['a key of 65', { requestId: 'x'.repeat(65) }, 1],
  ['a body that is no JSON', { body: 'quantity=1' }, 1],
  ['an empty body', { body: '' }, 1],
  ['an array', { body: '[]' }, 1],
  ['null', { body: 'null' }, 1],
  ['no quantity', { body: '{}' }, 1],
  ['a quantity in words', { body: '{"quantity":"1"}' }, 1],
  ['a quantity of 1.5', { body: '{"quantity":1.5}' }, 1],
  ['a tag of 65', { body: JSON.stringify({ quantity: 1, clientTag: 'x'.repeat(65) }) }, 1],
] satisfies [string, Partial<RawReservation>, number][])('%s', (_name, raw, count) => {
  const result = validateReservation({ ...GOOD, ...raw });
  expect(result.ok).toBe(false);
  if (!result.ok) expect(result.problems).toHaveLength(count);
});

test('good requests pass; the hash depends on the tag alone, whatever the order and spacing of the body', () => {
  const hashOf = (body: string, userId = '1'): string => {
    const result = validateReservation({ ...GOOD, body, userId });
    if (!result.ok) throw new Error(result.problems.join());
    return result.value.payloadHash;
  };
  expect(hashOf('{"quantity":1,"clientTag":"a"}')).toBe(hashOf(' { "clientTag" : "a", "quantity": 1 } ', '2'));
  expect(hashOf('{"quantity":1}')).toBe(payloadHashOf(null));
  expect(new Set(['{"quantity":1}', '{"quantity":1,"clientTag":""}', '{"quantity":1,"clientTag":"a"}'].map((body) => hashOf(body))).size).toBe(3);
  expect(payloadHashOf(null)).toMatch(/^[0-9a-f]{64}$/);
});
