// Options of the matrix: defaults, the reduced form, and every problem at once.
import { expect, test } from 'vitest';

import { LabError } from '../../facts/lab-error.js';
import { parseMutantOptions } from './mutant-options.js';

const KNOWN = { mutants: ['thief', 'forgetful'], judges: ['oversell'] };

test('ten repeats of all and fifty clean seeds, unless something is said', () => {
  expect(parseMutantOptions({ seed: '7' }, KNOWN)).toEqual({ only: [], repeats: 10, seed: 7, reduced: false, cleanSeeds: 50, lanes: 2, withoutJudges: [] });
  expect(parseMutantOptions({ reduced: true, seed: '7' }, KNOWN)).toMatchObject({ repeats: 1, cleanSeeds: 0, reduced: true });
  expect(parseMutantOptions({ only: ['thief,forgetful', 'thief'], repeats: '3' }, KNOWN)).toMatchObject({ only: ['thief', 'forgetful'], repeats: 3, cleanSeeds: 0 });
});

test('every problem is told at once', () => {
  const raw = { only: ['thief,nobody'], repeats: '0', seed: 'x', cleanSeeds: '-1', lanes: '11', withoutJudge: ['none'] };
  const attempt = (): unknown => parseMutantOptions(raw, KNOWN);
  expect(attempt).toThrow(LabError);
  for (const said of ['6 problems', '--only: there is no mutant "nobody"; there are thief, forgetful', '--repeats 0: must be at least 1', '--seed x: is not a number', '--clean-seeds -1', '--lanes 11: must be at most 10', 'there is no judge "none"']) expect(attempt).toThrow(said);
});

test('an empty list names nothing', () => {
  expect(() => parseMutantOptions({ only: [''] }, KNOWN)).toThrow('--only: names no mutant');
});
