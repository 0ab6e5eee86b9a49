/** The kill matrix from the command line, in its reduced form: all killed, the right system green; without a judge that is needed it is red. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { KillMatrix } from '../src/facts/kill-matrix.js';
import { freshFolder, lab, nothingLeftWithin, REPOSITORY, snapshot, startLab, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

it('kills a few mutants by the judges they name, also when it was broken off, and weighs the same runs again without one of them', async () => {
  const broken = startLab(['mutants', '--reduced', '--report-dir', freshFolder('matrix')]);
  await broken.says(/1\/\d+ /);
  broken.child.kill('SIGINT');
  expect((await broken.done).code).toBe(105);
  const folder = /next: seckill-lab mutants --resume (\S+)$/m.exec(broken.stderr())?.[1] ?? '';

  const finished = await lab('mutants', '--resume', folder, '--json');
  const matrix = JSON.parse(finished.stdout) as KillMatrix;
  expect([finished.code, matrix.problems]).toEqual([0, []]);
  expect(matrix.mutants.map(({ end }) => end)).toEqual(matrix.mutants.map(() => 'killed'));
  expect(matrix.controls.every(({ runs, green }) => runs > 0 && green === runs)).toBe(true);
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(join(REPOSITORY, 'schema/kill-matrix.schema.json'), 'utf8')) as object);
  expect([validate(matrix), validate.errors]).toEqual([true, null]);

  // Nothing is run again: the saved runs are weighed as if that judge did not exist.
  const again = await lab('mutants', '--resume', folder, '--without-judge', 'one-order-per-user', '--json');
  const without = JSON.parse(again.stdout) as KillMatrix;
  expect(again.code).toBe(1);
  expect(again.stderr).toContain('0 runs to make');
  expect(without.problems).toEqual(['no-unique-key survives: one-order-per-user said violated in 0 of 1 runs']);
});

it('reports every problem of its options at once', async () => {
  const { code, stderr } = await lab('mutants', '--only', 'nobody', '--repeats', '0', '--without-judge', 'none');
  expect(code).toBe(254);
  for (const part of ['there is no mutant "nobody"', '--repeats 0', 'there is no judge "none"']) expect(stderr).toContain(part);
});
