// The judges' own SHA-256 against Node's.
import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { sha256Hex } from './sha256.js';

const real = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

it('of any text is what Node says', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => sha256Hex(text) === real(text)));
});

it.each([0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 128])('of %d characters, around the ends of blocks', (length) => {
  const text = 'a'.repeat(length);
  expect(sha256Hex(text)).toBe(real(text));
});
