// Who may wait in front of Redis, by what is left.
import { expect, test } from 'vitest';

import { aRequest, said } from './a-request.test-support.js';
import { createLineLayer } from './line.js';

test('as many as there are units and a tenth more, never fewer than one reserve call takes', () => {
  const line = createLineLayer();
  let unanswered = 0;
  const request = aRequest({ requestId: 'r', userId: '1' });
  const says = (waiting: number): string => {
    unanswered = waiting;
    const verdict = line.pass(request);
    if (verdict instanceof Promise) throw new Error('the line waits for nothing');
    return said(verdict);
  };
  expect(says(1_000_000)).toBe('passed');
  line.watch(request.sku.skuId, () => unanswered);
  expect(says(1_000_000)).toBe('passed');
  line.stockLeft(request.sku.skuId, 1_000);
  expect([says(1_099), says(1_100)]).toEqual(['passed', 'QUEUE_FULL']);
  line.stockLeft(request.sku.skuId, 0);
  expect([says(63), says(64)]).toEqual(['passed', 'QUEUE_FULL']);
  line.stockLeft('another', 5);
  expect(says(63)).toBe('passed');
});
