/** Each bar as it was promised, and a figure a little beyond it is missed. */
import { expect, it } from 'vitest';

import { BARS } from './bars.js';
import { median, reaches, type Bound } from './bound.js';
import { tryOut } from './trial.js';

const PROMISED: readonly (readonly [Bound, number, number])[] = [
  [BARS.reserve, 2.8, 2.79], [BARS.soldOut, 4, 3.99], [BARS.generatorRate, 0.75, 0.749], [BARS.generatorCpu, 0.75, 0.751], [BARS.peerRate, 1.3, 1.29], [BARS.peerP99, 1.1, 1.101],
  [BARS.peerP99, 0.9, 0.899], [BARS.inprocIssuedPercent, 99.9, 99.89], [BARS.inprocLatenessMs, 5, 5.01], [BARS.inprocCorePercent, 15, 15.1], [BARS.gatewayRate, 0.85, 0.849],
  [BARS.consumerOfPgbench, 0.5, 0.49], [BARS.consumerOfSingle, 5, 4.99], [BARS.producer, 8, 7.99], [BARS.ordersWithin3sPercent, 99.9, 99.89], [BARS.growth, 1.3, 1.31], [BARS.saleMs, 1_000, 1_001],
];

it.each(PROMISED)('%o: %d reaches it and %d does not', (bound, at, beyond) => {
  // A tenth is no number of this arithmetic: 1.1 − 1 is a little more.
  expect(reaches(at > 1 ? at - 1e-9 * ('atLeast' in bound ? -1 : 1) : at + 1e-9 * ('atMost' in bound ? -1 : 1), bound)).toBe(true);
  expect(reaches(beyond, bound)).toBe(false);
});

it('has a line above for every bar', () => {
  expect(new Set(PROMISED.map(([bound]) => bound)).size).toBe(Object.keys(BARS).length);
});

it('lets nothing reach that is no number', () => {
  for (const bound of Object.values(BARS)) for (const value of [Number.NaN, Infinity, -Infinity]) expect(reaches(value, bound)).toBe(false);
});

it('takes the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

it('holds the median of a trial against its bound, and misses a figure that was not measured', async () => {
  const trial = (values: readonly (readonly number[])[]) => ({
    name: 'x', figures: [{ label: 'told', bound: null }, { label: 'held', bound: { atMost: 2 } }], measure: (round: number) => Promise.resolve(values[round - 1] ?? []),
  });
  const lines: string[] = [];
  expect(await tryOut(trial([[9, 1], [9, 2], [9, 7]]), 3, (line) => lines.push(line))).toBe(true);
  expect(await tryOut(trial([[9, 1], [9, 3], [9, 7]]), 3, (line) => lines.push(line))).toBe(false);
  expect(await tryOut(trial([[9], [9], [9]]), 3, (line) => lines.push(line))).toBe(false);
});

it('tells what was measured before a round failed, and reaches nothing by it', async () => {
  const lines: string[] = [];
  const values = [[1], [2]];
  const trial = { name: 'x', figures: [{ label: 'held', bound: { atMost: 2 } }], measure: (round: number) => { const row = values[round - 1]; return row === undefined ? Promise.reject(new Error('void')) : Promise.resolve(row); } };
  await expect(tryOut(trial, 5, (line) => lines.push(line))).rejects.toThrow('void');
  expect(lines).toEqual(['x: round 3 of 5 FAILED, measured before', '  held  1.50 (1.00–2.00)']);
});
