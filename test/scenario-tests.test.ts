/** Every registered scenario is run by some end-to-end test, or the list says why not: a scenario that nobody runs claims what nobody has seen. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { SCENARIOS } from '../src/scenarios/registry.js';
import { ROOT, textOf } from './support/source-tree.js';

/** Loads that need a machine of their own; what they came to is recorded where they were asked for. */
const RUN_BY_HAND: readonly string[] = ['spike-300k', 'spike-600k', 'spike-300k-faults'];

const texts = readdirSync(join(ROOT, 'test')).filter((file) => file.endsWith('.e2e.test.ts')).map((file) => textOf(`test/${file}`)).join('\n');
const isRun = (name: string): boolean => texts.includes(`'${name}'`);

describe('scenarios', () => {
  it('are each run by an end-to-end test', () => {
    expect(SCENARIOS.map(({ name }) => name).filter((name) => !isRun(name) && !RUN_BY_HAND.includes(name))).toEqual([]);
  });

  it('are run by hand only where no test runs them', () => {
    expect(RUN_BY_HAND.filter((name) => isRun(name) || !SCENARIOS.some((scenario) => scenario.name === name))).toEqual([]);
  });
});
