// The sliding sums behind consumer_tps and message_send_success_rate.
import { expect, test } from 'vitest';

import { createRateWindow } from './rate-window.js';

test('what is older than the window no longer counts', () => {
  let now = 1_000_000;
  const window = createRateWindow(10_000, () => now);
  expect(window.perSecond()).toBe(0);
  window.add(50);
  now += 5_000;
  window.add(50);
  expect(window.sum()).toBe(100);
  expect(window.perSecond()).toBe(20);
  now += 5_000;
  expect(window.sum()).toBe(50);
  expect(window.perSecond()).toBe(5);
  now += 60_000;
  expect(window.sum()).toBe(0);
});

test('a clock that stands still divides by no zero', () => {
  const window = createRateWindow(10_000, () => 7);
  window.add(3);
  expect(window.perSecond()).toBe(3);
});
