/** What is put together by hand reads as `JSON.stringify` writes it. */
import { expect, test } from 'vitest';

import type { Answer } from '../../domain/answer.js';
import { plainAnswerText } from './answer-text.js';

const BLANK: Answer = { code: 'UNAVAILABLE', requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null };

test.each<Partial<Answer>>([
  {}, { code: 'TEMP_SOLD_OUT', requestId: 'r-1._:', retryAfterMs: 1_000 }, { code: 'ORDERED', requestId: 'r', reservationId: '018f0000-0000-7000-8000-0000000000ff', orderId: '9007199254740993' },
])('%j', (fields) => {
  const answer = { ...BLANK, ...fields };
  expect(plainAnswerText(answer)).toBe(JSON.stringify(answer));
});

test('whatever the answer before was', () => {
  const alike: Partial<Answer>[] = [{}, { requestId: 'a' }, { requestId: 'b' }, { requestId: 'b', retryAfterMs: 0 }, { requestId: 'b', retryAfterMs: 5 }, { code: 'LIMITED', requestId: 'b', retryAfterMs: 5 }, { requestId: 'c', orderId: '7' }, { requestId: 'c' }];
  for (const fields of [...alike, ...alike.toReversed()]) expect(plainAnswerText({ ...BLANK, ...fields })).toBe(JSON.stringify({ ...BLANK, ...fields }));
});

test('words of others are left to JSON.stringify', () => {
  expect(plainAnswerText({ ...BLANK, reason: 'so "so"' })).toBeNull();
  expect(plainAnswerText({ ...BLANK, problems: ['ä'] })).toBeNull();
});
