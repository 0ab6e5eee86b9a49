// Results of two systems are not put into one table.
import { expect, test } from 'vitest';

import { refuseOtherCode } from './refuse-other-code.js';

test('a resume with the code that began goes on, with other code it is refused and says what to do', () => {
  expect(() => {
    refuseOtherCode('the sweep in /x', { gitSha: 'abc', codeDigest: 'f00d' }, 'f00d');
  }).not.toThrow();
  expect(() => {
    refuseOtherCode('the sweep in /x', { gitSha: 'abc', codeDigest: 'f00d' }, 'beef');
  }).toThrow(expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('f00d') as unknown, nextStep: expect.stringContaining('check out abc') as unknown }) as Error);
  expect(() => {
    refuseOtherCode('the sweep in /x', { gitSha: null, codeDigest: 'f00d' }, 'beef');
  }).toThrow('two systems');
});
