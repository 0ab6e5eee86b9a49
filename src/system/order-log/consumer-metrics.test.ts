// Lag, age and pace of a consumer.
import { expect, test } from 'vitest';

import { createRoleMetrics } from '../role-metrics.js';
import { consumerProgress } from './consumer-metrics.js';

test('the age of what is in hand grows while the handler waits; the lag is that of the last fetch', async () => {
  let now = 1_000_000;
  const metrics = createRoleMetrics('consumer', 'consumer-1');
  const progress = consumerProgress(metrics, () => 'orders', () => now);
  const value = async (name: string): Promise<number> => Number(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec(await metrics.text())?.[1]);

  expect(await value('oldest_message_age')).toBe(0);
  progress.began('x.orders', 0, 100, now - 2_000);
  progress.began('x.orders', 1, 10, now);
  now += 3_000;
  expect(await value('oldest_message_age')).toBe(5);
  expect(await value('consumer_lag')).toBe(110);
  progress.failed('x.orders');
  progress.finished('x.orders', 0, 50, 50);
  progress.left('x.orders', 1);
  expect(await value('oldest_message_age')).toBe(0);
  expect(await value('consumer_lag')).toBe(50);
  expect(await value('consumer_tps')).toBeGreaterThan(0);
  expect(await value('retry_message_total')).toBe(1);
  now += 31_000;
  expect(await value('consumer_lag')).toBe(0);
});
