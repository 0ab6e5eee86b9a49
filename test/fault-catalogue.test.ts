/** docs/fault-catalogue.md names scenarios that exist and have the faults it says. */
import { describe, expect, it } from 'vitest';

import { FAULTS } from '../src/faults/registry.js';
import { scenarioNamed } from '../src/scenarios/registry.js';
import { textOf } from './support/source-tree.js';

const rows = textOf('docs/fault-catalogue.md').split('\n').filter((line) => line.startsWith('| ') && line.includes('`')).map((line) => line.split('|').map((cell) => cell.trim()).filter((cell) => cell !== ''));
const namesIn = (cell: string | undefined): string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');

describe('the fault catalogue', () => {
  it('has all that the papers ask for: 8, 10 and 8', () => {
    const count = (paper: string): number => rows.filter(([first = '']) => first.startsWith(`\`${paper}\``)).length;
    expect([count('000'), count('001'), count('004')]).toEqual([8, 10, 8]);
  });

  it.each(rows.map((row) => [row.at(-2) ?? '', row.at(-1) ?? ''] as const).filter(([scenario]) => scenario !== '–'))('%s has %s', (scenario, faults) => {
    const [name = ''] = namesIn(scenario);
    const found = scenarioNamed(name);
    expect(found, name).not.toBeNull();
    const has = (found?.faults ?? []).map((text) => text.split('@')[0]);
    for (const fault of namesIn(faults)) expect(has).toContain(fault);
  });

  it('leaves out no fault but the general tools and those of the sweep', () => {
    const named = new Set(rows.flatMap((row) => namesIn(row.at(-1))));
    expect(FAULTS.map(({ name }) => name).filter((name) => !named.has(name)).sort()).toEqual(['foreign-redis', 'pause-at-step']);
  });
});
