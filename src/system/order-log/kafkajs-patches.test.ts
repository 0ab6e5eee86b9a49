/** The patch works only while kafkajs keeps the method it replaces: this fails when an update takes it away. */
import { expect, test } from 'vitest';

import { patchKafkajs, requestQueuePrototype } from './kafkajs-patches.js';

test('the patched method exists in the installed kafkajs, and an idle queue arms no timer any more', () => {
  const prototype = requestQueuePrototype();
  expect(typeof prototype.scheduleCheckPendingRequests).toBe('function');
  patchKafkajs();
  patchKafkajs();
  const armed = (pending: readonly unknown[], throttledUntil: number): boolean => {
    const queue = { pending, throttledUntil, throttleCheckTimeoutId: null as NodeJS.Timeout | null, checkPendingRequests: () => undefined };
    prototype.scheduleCheckPendingRequests.call(queue as never);
    if (queue.throttleCheckTimeoutId === null) return false;
    clearTimeout(queue.throttleCheckTimeoutId);
    return true;
  };
  expect(armed([], -1)).toBe(false);
  expect(armed([{}], -1)).toBe(true);
  expect(armed([], Date.now() + 1_000)).toBe(true);
});
