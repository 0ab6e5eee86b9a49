/** Exit codes of `npm run bench`, and that every bench is there. */
import { expect, it } from 'vitest';

import { LabError } from '../facts/lab-error.js';
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

it('goes on after a bench that fails, and tells why it was not measured', async () => {
  const lines: string[] = [];
  const heard = { ...tools, print: (line: string) => { lines.push(line); } };
  const failing = (name: string, cause: Error): Bench => ({ name, run: () => Promise.reject(cause) });
  const noTool = failing('tool', new LabError('MISSING_DEPENDENCY', 'vegeta is not installed', 'go install vegeta'));
  const ran: string[] = [];
  const last: Bench = { name: 'last', run: () => { ran.push('last'); return Promise.resolve(true); } };
  expect(await runBenches([noTool, last], heard)).toBe(2);
  expect(await runBenches([failing('run', new Error('the run is violated: 3 sold twice')), last], heard)).toBe(1);
  expect(await runBenches([noTool, bench('a', false), last], heard)).toBe(1);
  expect(await runBenches([failing('stack', new LabError('STACK_START_FAILED', 'no Kafka', 'look')), noTool, last], heard)).toBe(1);
  expect(ran).toHaveLength(4);
  const text = lines.join('\n');
  expect(text).toContain('tool: NOT MEASURED: vegeta is not installed\n  next: go install vegeta');
  expect(text).toContain('run: NOT MEASURED: Error: the run is violated: 3 sold twice');
});

it('knows its benches by name', () => {
  expect(choose(BENCHES, []).map(({ name }) => name).sort()).toEqual([
    'consumer', 'end-to-end', 'gateway-http', 'generator-http', 'generator-inproc', 'generator-peer', 'growth', 'producer', 'reserve-redis', 'reserve-soldout',
  ]);
  expect(choose(BENCHES, ['producer']).map(({ name }) => name)).toEqual(['producer']);
  expect(() => choose(BENCHES, ['producer', 'nothing'])).toThrow('there is no bench nothing');
});
