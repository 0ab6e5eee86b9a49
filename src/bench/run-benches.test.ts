/** Exit codes of `npm run bench`, and that every bench is there. */
import { expect, it } from 'vitest';

import type { Bench } from './bench.js';
import { BENCHES } from './registry.js';
import { choose, runBenches } from './run-benches.js';

const tools = { stack: () => Promise.reject(new Error('no stack')), print: () => undefined };
const bench = (name: string, reached: boolean): Bench => ({ name, run: () => Promise.resolve(reached) });

it('ends with 1 when any bench misses its bar, whatever comes after', async () => {
  expect(await runBenches([bench('a', true), bench('b', true)], tools)).toBe(0);
  expect(await runBenches([bench('a', false), bench('b', true)], tools)).toBe(1);
  expect(await runBenches([bench('a', true), bench('b', false)], tools)).toBe(1);
});

it('knows its benches by name', () => {
  expect(choose(BENCHES, []).map(({ name }) => name).sort()).toEqual([
    'consumer', 'end-to-end', 'gateway-http', 'generator-http', 'generator-inproc', 'generator-peer', 'growth', 'producer', 'reserve-redis', 'reserve-soldout',
  ]);
  expect(choose(BENCHES, ['producer']).map(({ name }) => name)).toEqual(['producer']);
  expect(() => choose(BENCHES, ['producer', 'nothing'])).toThrow('there is no bench nothing');
});
