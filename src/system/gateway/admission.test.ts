/** The two valves of the gateway and its window, on clocks made by hand. */
import { expect, test } from 'vitest';

import type { SkuMeta } from '../stock/stock-port.js';
import { createActivityWindow } from './activity-window.js';
import { createAdmission, createRateLimit } from './admission.js';

test('admission counts to its bound and takes back', () => {
  const admission = createAdmission(2);
  expect([admission.enter(), admission.enter(), admission.enter()]).toEqual([true, true, false]);
  admission.leave();
  expect(admission.inFlight).toBe(1);
  expect(admission.enter()).toBe(true);
});

test('a rate limit lets its burst pass, then its rate, and saves up no more than its burst', () => {
  let nowMs = 0;
  const limit = createRateLimit(10, 3, () => nowMs);
  const taken = (): number => Array.from({ length: 20 }, () => limit.take()).filter(Boolean).length;
  expect(taken()).toBe(3);
  nowMs = 100;
  expect(taken()).toBe(1);
  nowMs = 100_000;
  expect(taken()).toBe(3);
});

const SKU = { activityId: '1', skuId: '2' };
const META: SkuMeta = { activityVersion: '1', startAtMs: 1_000, endAtMs: 2_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' };

test('the window follows the clock exactly and asks Redis once a second', async () => {
  let wallMs = 999;
  let monotonicMs = 0;
  let reads = 0;
  const read = () => {
    reads += 1;
    return Promise.resolve({ outcome: 'done' as const, meta: META });
  };
  const window = createActivityWindow({ meta: read }, { nowMs: () => wallMs }, () => monotonicMs);
  expect(await Promise.all([window.check(SKU), window.check(SKU)])).toEqual([{ state: 'not-started', startsInMs: 1 }, { state: 'not-started', startsInMs: 1 }]);
  expect(reads).toBe(1);
  wallMs = 1_000;
  expect(window.check(SKU)).toEqual({ state: 'open' });
  wallMs = 1_999;
  expect(window.check(SKU)).toEqual({ state: 'open' });
  wallMs = 2_000;
  expect(window.check(SKU)).toEqual({ state: 'ended' });
  monotonicMs = 1_500;
  void window.check(SKU);
  void window.check(SKU);
  expect(reads).toBe(2);
});

test('a known meta outlives a hiccup of Redis, not an outage; a meta that is gone closes at the next reading', async () => {
  let monotonicMs = 0;
  let reply: { outcome: 'done'; meta: SkuMeta | null } | { outcome: 'unknown'; reason: string } = { outcome: 'done', meta: META };
  const window = createActivityWindow({ meta: () => Promise.resolve(reply) }, { nowMs: () => 1_500 }, () => monotonicMs);
  expect(await window.check(SKU)).toEqual({ state: 'open' });
  reply = { outcome: 'unknown', reason: 'cut' };
  monotonicMs = 2_000;
  expect(await window.check(SKU)).toEqual({ state: 'open' });
  monotonicMs = 4_000;
  expect(await window.check(SKU)).toEqual({ state: 'unavailable' });
  reply = { outcome: 'done', meta: META };
  expect(await window.check(SKU)).toEqual({ state: 'open' });
  reply = { outcome: 'done', meta: null };
  monotonicMs = 5_500;
  await window.check(SKU);
  await new Promise(setImmediate);
  expect(await window.check(SKU)).toEqual({ state: 'unavailable' });
});
