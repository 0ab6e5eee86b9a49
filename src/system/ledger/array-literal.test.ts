/** What is written for a column is what the driver writes, but for quotes that nothing needs. */
import { createRequire } from 'node:module';

import { expect, test } from 'vitest';

import { arrayLiteral, asParameter } from './array-literal.js';

const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils') as { prepareValue: (value: unknown) => string };

/** The elements that PostgreSQL reads out of a literal of one dimension. */
function elementsOf(literal: string): (string | null)[] {
  const elements: (string | null)[] = [];
  for (const [, quoted, bare] of literal.slice(1, -1).matchAll(/(?:"((?:[^"\\]|\\.)*)"|([^",]+))(?:,|$)/gs)) {
    elements.push(bare === undefined ? (quoted ?? '').replaceAll(/\\(.)/gs, '$1') : bare.toUpperCase() === 'NULL' ? null : bare);
  }
  return elements;
}

test.each([
  [[]], [['a', '018f0000-0000-7000-8000-0000000000ff', '9223372036854775807']], [['NULL', 'null', 'nul', '']], [['with "quotes"', 'back\\slash', '{"a":"b\\"c"}', 'com,ma', '{brace}', ' blank ', 'line\nbreak', '行', 'null']],
  [[1, -2, 1.5, 2n, true, false]], [[null, undefined, 'x']],
])('column %#', (values) => {
  const literal = arrayLiteral(values);
  expect(literal).not.toBeNull();
  expect(elementsOf(literal ?? '')).toEqual(elementsOf(prepareValue(values)));
});

test('what it does not know is left to the driver', () => {
  const odd = [new Date(0)];
  expect(arrayLiteral(odd)).toBeNull();
  expect(asParameter(odd)).toBe(odd);
  expect([asParameter('x'), asParameter(null), asParameter(['x', 'yy'])]).toEqual(['x', null, '{x,yy}']);
});
