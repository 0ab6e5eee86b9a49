// Order ids: above 2^53, inside int8, strictly rising whatever the clock does, different per instance.
import { expect, test } from 'vitest';

import { isPositiveInt8 } from '../../domain/ids.js';
import { createIdSource, createOrderNumber, workerNumber } from './order-id.js';

const NOW_MS = Date.UTC(2026, 5, 1);

test('above 2^53, inside int8, also at the end of the 41 bits', () => {
  for (const nowMs of [NOW_MS, Date.UTC(2089, 0, 1)]) {
    const id = createIdSource('consumer-1', { nowMs: () => nowMs }).next();
    expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
    expect(isPositiveInt8(id)).toBe(true);
  }
});

test('strictly rising through a clock that stands still, jumps and goes back', () => {
  const times = [NOW_MS, NOW_MS + 5, NOW_MS - 60_000, NOW_MS + 1];
  let call = 0;
  const ids = createIdSource('consumer-1', { nowMs: () => times[Math.floor(call++ / 5_000)] ?? NOW_MS });
  let last = 0n;
  for (let made = 0; made < 20_000; made++) {
    const id = BigInt(ids.next());
    expect(id > last).toBe(true);
    last = id;
  }
});

test('instances of all roles have numbers of their own', () => {
  const numbers = (['gateway', 'consumer', 'relay', 'closer', 'retention'] as const).flatMap((role) => Array.from({ length: 64 }, (_, number) => workerNumber(`${role}-${number}`)));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(Math.max(...numbers)).toBeLessThan(1024);
});

test('order numbers fit their column and do not repeat', () => {
  const numbers = Array.from({ length: 1_000 }, () => createOrderNumber({ nowMs: () => NOW_MS }));
  expect(new Set(numbers).size).toBe(1_000);
  for (const number of numbers) expect(number).toMatch(/^SK[0-9A-Z]{1,38}$/);
});
