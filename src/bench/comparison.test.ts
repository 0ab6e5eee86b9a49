/** The median of the rounds' ratios decides, the first round only warms up, and a side below the bar is told. */
import { expect, it } from 'vitest';

import { compare, type Comparison } from './comparison.js';

function scripted(over: number, under: number, warmUp = 1): Comparison {
  const side = (label: string, value: number) => ({ label, measure: (round: number) => Promise.resolve(round === 0 ? warmUp : value) });
  return { name: 'x', figure: 'µs', sides: [side('a', over), side('b', under)], bars: [{ over: 'a', under: 'b', bound: { atLeast: 2 } }] };
}

it('reaches or misses the bar by the ratio alone', async () => {
  const lines: string[] = [];
  expect(await compare(scripted(6, 3), 5, (line) => lines.push(line))).toBe(true);
  expect(await compare(scripted(5.9, 3), 5, (line) => lines.push(line))).toBe(false);
  expect(lines.at(-1)).toContain('MISSED');
});

it('does not count the round that warms up', async () => {
  expect(await compare(scripted(6, 3, 1e9), 5, () => undefined)).toBe(true);
});

it('takes a side that measured nothing for no figure, instead of a good ratio', async () => {
  await expect(compare(scripted(6, 0), 5, () => undefined)).rejects.toThrow('no figure');
  await expect(compare(scripted(Number.NaN, 3), 5, () => undefined)).rejects.toThrow('no figure');
});

it('pairs the sides of one round, whoever began it', async () => {
  // Phases that double both sides: the ratio of every round is 2, that of the medians would be too; a ratio across rounds would not.
  const phase = [1, 1, 8, 1, 4, 2];
  const side = (label: string, value: number) => ({ label, measure: (round: number) => Promise.resolve(value * (phase[round] ?? 1)) });
  const lines: string[] = [];
  const bars = [{ over: 'a', under: 'b', bound: { withinShareOf1: 0 } }];
  expect(await compare({ name: 'x', figure: 'µs', sides: [side('a', 1), side('b', 1), side('c', 1)], bars }, 5, (line) => lines.push(line))).toBe(true);
});

it('misses when one of several bars is missed, in whichever place', async () => {
  const with2 = (first: number, second: number): Comparison => ({ ...scripted(6, 3), bars: [{ over: 'a', under: 'b', bound: { atLeast: first } }, { over: 'a', under: 'b', bound: { atLeast: second } }] });
  expect(await compare(with2(2, 3), 5, () => undefined)).toBe(false);
  expect(await compare(with2(3, 2), 5, () => undefined)).toBe(false);
  expect(await compare(with2(2, 2), 5, () => undefined)).toBe(true);
});

it('tells what was measured before a round failed, and reaches nothing by it', async () => {
  const lines: string[] = [];
  const side = (label: string) => ({ label, measure: (round: number) => (round < 3 ? Promise.resolve(round + 1) : Promise.reject(new Error('gone'))) });
  const failing: Comparison = { ...scripted(6, 3), sides: [side('a'), side('b')] };
  await expect(compare(failing, 5, (line) => lines.push(line))).rejects.toThrow('gone');
  expect(lines).toEqual(['x: round 3 of 5 FAILED, measured before', '  a  2.50 (2.00–3.00)', '  b  2.50 (2.00–3.00)']);
});
