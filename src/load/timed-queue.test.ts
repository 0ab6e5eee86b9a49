/** The queue gives out whatever order things fell due in, soonest first. */
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { TimedQueue } from './timed-queue.js';

it('gives every token once, by its time, and none before', () => {
  fc.assert(fc.property(fc.array(fc.nat(1_000)), (dues) => {
    const queue = new TimedQueue();
    dues.forEach((dueUs, token) => { queue.push(token, dueUs); });
    const given: number[] = [];
    for (let nowUs = 0; nowUs <= 1_000; nowUs += 1) {
      for (let token = queue.peek(nowUs); token !== null; token = queue.peek(nowUs)) {
        if (dues[token] !== nowUs) return false;
        given.push(token);
        queue.shift();
      }
    }
    return given.length === dues.length && new Set(given).size === dues.length && queue.peek(Infinity) === null;
  }));
});

it('holds nothing after it was cleared', () => {
  const queue = new TimedQueue();
  queue.push(1, 0);
  queue.clear();
  queue.shift();
  expect(queue.peek(Infinity)).toBeNull();
});
