// docs/testing.md names tests that exist, every assertion statement, and every scenario that it speaks of.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { SCENARIOS } from '../src/scenarios/registry.js';
import { ROOT, textOf } from './support/source-tree.js';

const PAGE = textOf('docs/testing.md');
/** `file` · beginning of a title. */
const NAMED = [...PAGE.matchAll(/\| `((?:src|test)\/[^`]+)` · (.+) \|$/gm)].map((match) => [match[1] ?? '', match[2] ?? ''] as const);

it('names a good number of tests', () => {
  expect(NAMED.length).toBeGreaterThan(35);
});

it.each(NAMED)('%s · %s', (path, title) => {
  expect(existsSync(join(ROOT, path))).toBe(true);
  const text = textOf(path);
  const begins = ['\'', '`', '"'].some((quote) => text.includes(`(${quote}${title}`) || text.includes(`)(${quote}${title}`));
  expect(begins, `${path} has no test that begins with "${title}"`).toBe(true);
});

it('names every assertion statement', () => {
  const files = readdirSync(join(ROOT, 'sql/facts')).filter((file) => file.startsWith('assert_')).map((file) => `sql/facts/${file}`);
  expect(files.filter((file) => !PAGE.includes(file))).toEqual([]);
});

it('names scenarios that exist', () => {
  const named = [...PAGE.matchAll(/scenario `([a-z-]+)`/g)].map((match) => match[1] ?? '');
  expect(named.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name))).toEqual([]);
});
