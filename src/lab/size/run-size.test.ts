/** What is swept with what, which batches are left out, and what a rate is made of. */
import { expect, it } from 'vitest';

import type { RunningStack } from '../../stack/running-stack.js';
import { lanesOf, rateOfCommits, type Commit, type OrderSettings } from './order-rate.js';
import { ORDERS_MIN, ORDERS_USUAL, runSize } from './run-size.js';

const NO_STACK = {} as RunningStack;

async function swept(orders: number, rateOf: (settings: OrderSettings) => number) {
  const asked: OrderSettings[] = [];
  const measure = (_stack: RunningStack, settings: OrderSettings): Promise<number> => {
    asked.push(settings);
    return Promise.resolve(rateOf(settings));
  };
  const tables = await runSize(NO_STACK, { repeats: 2, orders, onMeasure: () => undefined, measure });
  return { asked, tables };
}

it('sweeps each setting with the knees of those before it', async () => {
  const { asked, tables } = await swept(ORDERS_USUAL, ({ strategies, consumers }) => {
    if (strategies.consumer === 'single') return 400;
    return Math.min(Number(strategies.consumer.slice('batch:'.length)), 500) * (consumers >= 2 ? 2 : 1) * (strategies.allocator === 'row' ? 3 : 1);
  });
  expect(tables.map(({ setting, knee }) => [setting, knee])).toEqual([['pool size', 8], ['batch', 500], ['consumers', 2], ['allocator', 'row']]);
  expect(asked).toHaveLength(2 * (5 + 6 + 4 + 2));
  expect(asked.at(-1)).toMatchObject({ consumers: 2, strategies: { consumer: 'batch:500', allocator: 'row' } });
});

it('leaves out batches for which the orders would be the start of each lane and nothing more', async () => {
  const { asked, tables } = await swept(ORDERS_MIN, () => 100);
  const batches = tables.find(({ setting }) => setting === 'batch');
  expect(batches?.rows.map(({ value }) => value)).toEqual([50, 100, 250, 500]);
  expect(batches?.with).toBe('1 consumer; 1000 left out, for it --orders 12000; 2000 left out, for it --orders 24000');
  // 128 single transactions at a time, three of each.
  for (const settings of asked) expect(settings.orders).toBeGreaterThanOrEqual(settings.strategies.consumer === 'single' ? 3 * lanesOf(settings) : 6_000);
});

it('takes the rate from when every lane has committed once until the last commit', () => {
  const lane = (from: number, each: number, count: number): Commit[] => Array.from({ length: count }, (_, place) => ({ orders: 500, at: from + each * (place + 1) }));
  // Four lanes of 500 in 0.5 s each are 4,000 a second, whoever starts a little later than the others and whatever the first one waited for.
  const commits = [...lane(10, 0.5, 6), ...lane(10.02, 0.5, 6), ...lane(10.01, 0.5, 6), ...lane(10.03, 0.5, 6)];
  expect(rateOfCommits(commits, 4)).toBeCloseTo(4_000, 0);
  expect(rateOfCommits(commits.toReversed(), 4)).toBeCloseTo(4_000, 0);
});

it('has no rate of four transactions that began together', () => {
  const together = [0, 0.001, 0.002, 0.003].map((at) => ({ orders: 250, at }));
  expect(() => rateOfCommits(together, 4)).toThrow('4 transactions of 4 at a time are no rate');
  expect(() => rateOfCommits([], 4)).toThrow('no rate');
});

it('knows how many transactions are under way at once', () => {
  const settings = { orders: 1, consumers: 2, poolSize: 8, strategies: { consumer: 'batch:500', allocator: 'token' } } as const;
  expect(lanesOf(settings)).toBe(4);
  expect(lanesOf({ ...settings, strategies: { consumer: 'single', allocator: 'token' } })).toBe(16);
});
