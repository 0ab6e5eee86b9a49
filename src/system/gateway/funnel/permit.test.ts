// Permits: forged, expired, another's, replayed at the same or another gateway; what may be shown again; one clock for all.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';

import { encodePermit, parsePermit, type PermitClaims } from '../../../domain/permit.js';
import { memoryBook, type MemoryBook } from '../../stock/memory-book.test-support.js';
import { aRequest } from './a-request.test-support.js';
import { createPermitLayer } from './permit.js';

const NOW_MS = 1_700_000_000_000;
const SECRET = 'a secret';
const SKU = { activityId: '7', skuId: '70' };
const claims: PermitClaims = { ...SKU, userId: '42', expiresAtMs: NOW_MS + 60_000, nonce: 'nonce-0001' };
const permit = (change: Partial<PermitClaims> = {}, secret = SECRET): string =>
  encodePermit({ ...claims, ...change }, (payload) => createHmac('sha256', secret).update(payload).digest('base64url'));

/** One gateway over the book. `clock`: its monotonic clock. */
function gatewayOver(book: MemoryBook, clock = { nowMs: 5 }, spentMax = 100) {
  const layer = createPermitLayer({ secret: SECRET, spentMax, book, skus: [SKU], nowMs: () => clock.nowMs });
  return async (text: string | null, change: Parameters<typeof aRequest>[0] = {}): Promise<string> => {
    const verdict = await layer.pass(aRequest({ permit: text, ...change }));
    if (verdict === null) return 'passed';
    return verdict.answer.code === 'PERMIT_INVALID' ? `${String(verdict.httpStatus)} ${verdict.answer.reason ?? ''}` : verdict.answer.code;
  };
}

test.each<[string, string | null, string]>([
  ['a good one', permit(), 'passed'],
  ['none', null, '403 MISSING'],
  ['an empty one', '', '403 MALFORMED'],
  ['another form', 'v2.1.nonce-0001.x', '403 MALFORMED'],
  ['another secret', permit({}, 'guessed'), '403 FORGED'],
  ['a flipped character', permit().replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')), '403 FORGED'],
  ['a longer life written into it', permit().replace(String(claims.expiresAtMs), String(claims.expiresAtMs + 1)), '403 FORGED'],
  ['another nonce written into it', permit().replace('nonce-0001', 'nonce-0002'), '403 FORGED'],
  ['another user\'s', permit({ userId: '43' }), '403 FORGED'],
  ['another SKU\'s', permit({ skuId: '71' }), '403 FORGED'],
  ['another activity\'s', permit({ activityId: '8' }), '403 FORGED'],
  ['expired this millisecond', permit({ expiresAtMs: NOW_MS }), '403 EXPIRED'],
  ['good for one more millisecond', permit({ expiresAtMs: NOW_MS + 1 }), 'passed'],
  ['good for years', permit({ expiresAtMs: NOW_MS + 10 ** 12 }), '403 TOO_LONG'],
])('%s', async (_name, text, expected) => {
  expect(await gatewayOver(memoryBook(NOW_MS))(text)).toBe(expected);
});

test('single use: the id that spent it may show it again, another id may not', async () => {
  const show = gatewayOver(memoryBook(NOW_MS));
  expect([await show(permit()), await show(permit()), await show(permit(), { requestId: 'r-2' }), await show(permit())]).toEqual(['passed', 'passed', '403 SPENT', 'passed']);
});

test('single use over two gateways: another id may not show it anywhere, the same id may everywhere', async () => {
  const book = memoryBook(NOW_MS);
  const [one, other] = [gatewayOver(book), gatewayOver(book)];
  expect(await one(permit())).toBe('passed');
  expect([await other(permit(), { requestId: 'r-2' }), await other(permit()), await one(permit(), { requestId: 'r-2' })]).toEqual(['403 SPENT', 'passed', '403 SPENT']);
  // Who has spent it never changes, so that replays cost no further calls.
  const before = book.calls.spend;
  for (let time = 0; time < 10; time += 1) expect(await other(permit(), { requestId: `x${String(time)}` })).toBe('403 SPENT');
  expect(book.calls.spend).toBe(before);
});

test('of many ids that show one permit to two gateways at once, one passes', async () => {
  const book = memoryBook(NOW_MS);
  const gateways = [gatewayOver(book), gatewayOver(book)];
  const told = await Promise.all(Array.from({ length: 200 }, async (_value, index) => gateways[index % 2]?.(permit(), { requestId: `r${String(index)}` })));
  expect(told.filter((answer) => answer === 'passed')).toHaveLength(1);
});

test.each(['surely-not-done', 'unknown'] as const)('the book is away (%s): nobody passes, and whoever comes again later does', async (away) => {
  const book = memoryBook(NOW_MS);
  const show = gatewayOver(book);
  book.away = away;
  expect(await show(permit())).toBe('UNAVAILABLE');
  book.away = null;
  expect(await show(permit())).toBe('passed');
  book.away = away;
  // What is known of a nonce stays true without it.
  expect([await show(permit()), await show(permit(), { requestId: 'r-2' })]).toEqual(['passed', '403 SPENT']);
});

test('C14: gateways whose clocks differ by hours judge a permit alike, by the clock of Redis', async () => {
  const book = memoryBook(NOW_MS);
  const gateways = [gatewayOver(book, { nowMs: NOW_MS + 7_200_000 }), gatewayOver(book, { nowMs: NOW_MS - 7_200_000 })];
  for (const show of gateways) expect(await show(permit({ expiresAtMs: NOW_MS + 1 }))).toBe('passed');
  book.nowMs += 1;
  for (const [index, show] of gateways.entries()) {
    const late = { requestId: `late-${String(index)}` };
    expect(await show(permit({ expiresAtMs: NOW_MS + 1, nonce: 'nonce-late' }), late)).toBe('403 EXPIRED');
  }
});

test('a permit that is over by the time Redis told last costs no call; one that may not be over does', async () => {
  const [book, clock] = [memoryBook(NOW_MS), { nowMs: 1_000 }];
  const show = gatewayOver(book, clock);
  await show(permit());
  const asked = book.calls.spend;
  clock.nowMs += 100;
  expect(await show(permit({ expiresAtMs: NOW_MS + 100, nonce: 'nonce-over' }), { requestId: 'r-2' })).toBe('403 EXPIRED');
  expect(book.calls.spend).toBe(asked);
  // Our estimate is never ahead of Redis, which is 50 ms further than we can know.
  book.nowMs = NOW_MS + 150;
  expect(await show(permit({ expiresAtMs: NOW_MS + 120, nonce: 'nonce-over' }), { requestId: 'r-2' })).toBe('403 EXPIRED');
  expect(book.calls.spend).toBe(asked + 1);
});

test('two users with the same nonce do not spend each other\'s', async () => {
  const show = gatewayOver(memoryBook(NOW_MS));
  expect([await show(permit()), await show(permit({ userId: '43' }), { userId: '43', requestId: 'r-2' })]).toEqual(['passed', 'passed']);
});

test('a full book refuses new permits and keeps the spent ones; a forged one takes no room and no call', async () => {
  const book = memoryBook(NOW_MS);
  const show = gatewayOver(book, { nowMs: 5 }, 1);
  expect(await show(permit({}, 'guessed'))).toBe('403 FORGED');
  expect(book.calls.spend).toBe(0);
  expect(await show(permit())).toBe('passed');
  expect(await show(permit({ nonce: 'nonce-0002' }), { requestId: 'r-2' })).toBe('LIMITED');
  expect(await show(permit(), { requestId: 'r-2' })).toBe('403 SPENT');
});

test('the text survives its encoding', () => {
  expect(parsePermit(permit())).toMatchObject({ expiresAtMs: claims.expiresAtMs, nonce: claims.nonce });
});
