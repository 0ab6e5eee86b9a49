// Permits: forged, expired, another's, replayed; and what may be shown again.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';

import { encodePermit, parsePermit, type PermitClaims } from '../../../domain/permit.js';
import { aRequest } from './a-request.test-support.js';
import { createPermitLayer } from './permit.js';

const NOW_MS = 1_700_000_000_000;
const SECRET = 'a secret';
const claims: PermitClaims = { activityId: '7', skuId: '70', userId: '42', expiresAtMs: NOW_MS + 60_000, nonce: 'nonce-0001' };
const permit = (change: Partial<PermitClaims> = {}, secret = SECRET): string =>
  encodePermit({ ...claims, ...change }, (payload) => createHmac('sha256', secret).update(payload).digest('base64url'));

function layerAt(clock: { nowMs: number }, spentMax = 100) {
  const layer = createPermitLayer({ secret: SECRET, spentMax, clock: { nowMs: () => clock.nowMs } });
  return (text: string | null, change: Parameters<typeof aRequest>[0] = {}): string => {
    const verdict = layer.pass(aRequest({ permit: text, ...change }));
    if (verdict instanceof Promise) throw new Error('does not wait');
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
])('%s', (_name, text, expected) => {
  expect(layerAt({ nowMs: NOW_MS })(text)).toBe(expected);
});

test('single use: the id that spent it may show it again, another id may not', () => {
  const show = layerAt({ nowMs: NOW_MS });
  expect([show(permit()), show(permit()), show(permit(), { requestId: 'r-2' }), show(permit())]).toEqual(['passed', 'passed', '403 SPENT', 'passed']);
});

test('two users with the same nonce do not spend each other\'s', () => {
  const show = layerAt({ nowMs: NOW_MS });
  expect([show(permit()), show(permit({ userId: '43' }), { userId: '43', requestId: 'r-2' })]).toEqual(['passed', 'passed']);
});

test('a nonce stays spent for as long as its permit lives, over the turn of the window', () => {
  const clock = { nowMs: NOW_MS };
  const show = layerAt(clock);
  const day = 24 * 3_600_000;
  clock.nowMs += day - 1_000;
  const long = permit({ expiresAtMs: clock.nowMs + day });
  expect(show(long)).toBe('passed');
  for (const stepMs of [2_000, day / 2]) {
    clock.nowMs += stepMs;
    expect(show(long, { requestId: 'r-2' })).toBe('403 SPENT');
  }
});

test('full memory refuses new permits and keeps the spent ones; a forged one takes no room', () => {
  const show = layerAt({ nowMs: NOW_MS }, 1);
  expect(show(permit({}, 'guessed'))).toBe('403 FORGED');
  expect(show(permit())).toBe('passed');
  expect(show(permit({ nonce: 'nonce-0002' }), { requestId: 'r-2' })).toBe('LIMITED');
  expect(show(permit(), { requestId: 'r-2' })).toBe('403 SPENT');
});

test('the text survives its encoding', () => {
  expect(parsePermit(permit())).toMatchObject({ expiresAtMs: claims.expiresAtMs, nonce: claims.nonce });
});
