/** Lag never cancels out: what one partition is ahead, by a late look, hides nothing of another's. */
import type { Admin } from 'kafkajs';
import { expect, it } from 'vitest';

import { consumerLag } from './drained.js';

function admin(high: readonly number[], committed: readonly number[], asked: string[] = []): Admin {
  const look = {
    fetchTopicOffsets: () => {
      asked.push('ends');
      return Promise.resolve(high.map((end, partition) => ({ partition, offset: String(end), high: String(end), low: '0' })));
    },
    fetchOffsets: () => {
      asked.push('committed');
      return Promise.resolve([{ topic: 't', partitions: committed.map((offset, partition) => ({ partition, offset: String(offset) })) }]);
    },
  };
  return look as unknown as Admin;
}

it('adds up partitions, with -1 for nothing committed', async () => {
  expect(await consumerLag(admin([5, 7, 3], [5, 4, -1]), 't', 'g')).toBe(6);
});

it('a partition that looks ahead does not make up for one that is behind', async () => {
  expect(await consumerLag(admin([5, 7], [6, 6]), 't', 'g')).toBe(1);
});

it('reads the ends last, so that what comes in between is lag', async () => {
  const asked: string[] = [];
  await consumerLag(admin([1], [1], asked), 't', 'g');
  expect(asked).toEqual(['committed', 'ends']);
});
