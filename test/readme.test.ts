/** Both READMEs name what there is, all of it and nothing else: scenarios, faults, options, exit codes, links. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { ExitCode } from '../src/exit-codes.js';
import { FAULTS, parseFaultOption } from '../src/faults/registry.js';
import { RUN_OPTIONS } from '../src/lab/run-options.js';
import { SCENARIOS } from '../src/scenarios/registry.js';
import { ROOT, textOf } from './support/source-tree.js';

/** Rows of the table under a heading, without its head. */
function rowsUnder(text: string, heading: RegExp): string[] {
  const section = text.split(/^## /m).find((part) => heading.test(part)) ?? '';
  return section.split('\n').filter((line) => line.startsWith('| ')).slice(2);
}

const inBackticks = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');

describe.each([
  ['README.md', { scenarios: /^Scenarios/, faults: /^Faults/, options: /^Options/, codes: /^Exit codes/ }],
  ['README.zh-CN.md', { scenarios: /^场景/, faults: /^故障/, options: /^`run` 的选项/, codes: /^退出码/ }],
])('%s', (path, headings) => {
  const text = textOf(path);

  it('names every scenario', () => {
    const named = rowsUnder(text, headings.scenarios).map((line) => inBackticks(line)[0]);
    expect(named).toEqual(SCENARIOS.map((scenario) => scenario.name));
  });

  it('shows every fault with an option that works', () => {
    const shown = rowsUnder(text, headings.faults).map((line) => inBackticks(line).at(-1) ?? '');
    expect(new Set(shown.map((option) => option.split('@')[0]))).toEqual(new Set(FAULTS.map((fault) => fault.name)));
    for (const option of shown) expect(parseFaultOption(option).ok, option).toBe(true);
  });

  it('names every option of run', () => {
    const named = rowsUnder(text, headings.options).flatMap((line) => inBackticks(line)).flatMap((cell) => cell.match(/--[a-z-]+/g) ?? []);
    for (const { flag } of Object.values(RUN_OPTIONS)) expect(named).toContain(flag.split(' ')[0]);
    const declared = textOf('src/cli.ts');
    const known = new Set(Object.values(RUN_OPTIONS).map(({ flag }) => flag.split(' ')[0]));
    for (const option of named) expect(known.has(option) || declared.includes(`'${option}`), option).toBe(true);
  });

  it('gives the exit codes in the order in which they apply', () => {
    const codes = rowsUnder(text, headings.codes).map((line) => Number(/^\| (\d+) /.exec(line)?.[1]));
    expect(codes).toEqual(Object.values(ExitCode));
  });

  it('links to what is there', () => {
    const targets = [...text.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '').filter((target) => !target.includes('://'));
    expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
  });
});
