/** The median of the pairs' ratios decides, the first pair only warms up, and a side below the bar is told. */
import { expect, it } from 'vitest';

import { compare, median, type Comparison } from './comparison.js';

function scripted(slow: number, fast: number, warmUp = 1): Comparison {
  return {
    name: 'x', figure: 'µs', slowSide: 'a', fastSide: 'b', bar: 2,
    measure: (side, round) => Promise.resolve(round === 0 ? warmUp : side === 'slow' ? slow : fast),
  };
}

it('takes the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

it('reaches or misses the bar by the ratio alone', async () => {
  const lines: string[] = [];
  expect(await compare(scripted(6, 3), 5, (line) => lines.push(line))).toBe(true);
  expect(await compare(scripted(5.9, 3), 5, (line) => lines.push(line))).toBe(false);
  expect(lines.at(-1)).toContain('MISSED');
});

it('does not count the pair that warms up', async () => {
  expect(await compare(scripted(6, 3, 1e9), 5, () => undefined)).toBe(true);
});
