// The metrics of the system as its sources name them: the papers' names are there, types agree, labels hold no ids, and the page is up to date.
import { describe, expect, test } from 'vitest';

import { metricSources } from './support/metric-sources.js';
import { metricsPage, PAPER_NAMES, PAPER_ROWS, rolesOf } from './support/metrics-page.js';

const sources = metricSources();
const names = new Set(sources.map(({ name }) => name));

describe('the papers', () => {
  test.each(Object.entries(PAPER_NAMES).flatMap(([section, all]) => all.map((name) => [section, name] as const)))('%s: %s is shown', (_section, name) => {
    expect(names).toContain(name);
  });

  test.each(PAPER_ROWS.map(([asked, all]) => [asked, all] as const))('001 §12.2 %s', (_asked, all) => {
    expect(all.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('sources', () => {
  test('every metric can be read off its call', () => {
    expect(sources.filter(({ name, meaning }) => name === '?' || meaning === '?').map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
    expect(sources.length).toBeGreaterThan(80);
  });

  test('names are snake case, and one name is one type', () => {
    const types = new Map<string, Set<string>>();
    for (const { name, type } of sources) types.set(name, (types.get(name) ?? new Set()).add(type));
    expect([...types].filter(([, all]) => all.size > 1).map(([name]) => name)).toEqual([]);
    expect([...names].filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  });

  test('labels are words from this list: none of them can hold an id of a buyer, a request or an order', () => {
    const allowed = new Set([
      'action', 'activity_id', 'by', 'cause', 'class', 'code', 'end', 'kind', 'layer', 'operation', 'outcome', 'pool', 'repeated', 'request', 'result', 'result_code', 'sku_id', 'sqlstate',
      'stage', 'state', 'statement', 'status', 'table', 'topic', 'type',
    ]);
    expect(sources.flatMap(({ name, labels }) => labels.filter((label) => !allowed.has(label)).map((label) => `${name}: ${label}`))).toEqual([]);
  });

  test('every file that counts belongs to a role', () => {
    expect([...new Set(sources.filter(({ path }) => rolesOf(path) === null).map(({ path }) => path))]).toEqual([]);
  });
});

test('docs/metrics.md says what the sources say', async () => {
  await expect(metricsPage(sources)).toMatchFileSnapshot('../docs/metrics.md');
});
