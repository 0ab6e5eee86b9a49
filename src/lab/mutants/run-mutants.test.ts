// Which runs a matrix is made of: each mutant and one control per plan and repeat, clean seeds on top, and what has been run already.
import { expect, test } from 'vitest';

import type { MatrixRun } from '../../facts/kill-matrix.js';
import { inboxOff } from '../../mutants/inbox-off.js';
import { noUniqueKey } from '../../mutants/no-unique-key.js';
import { successAfterRedis } from '../../mutants/success-after-redis.js';
import { isDone, matrixTasks, showsSomething } from './run-mutants.js';

const MUTANTS = [inboxOff, successAfterRedis, noUniqueKey];
const names = (tasks: ReturnType<typeof matrixTasks>): string[] => tasks.map((task) => task.mutant?.name ?? `control of ${task.plan.name}`);

test('mutants of one plan share a control, which comes first', () => {
  expect(names(matrixTasks(MUTANTS, { seed: 1, repeats: 1, cleanSeeds: 0 }))).toEqual([
    'control of plain-sale', 'control of one-user-burst', 'inbox-off', 'success-after-redis', 'no-unique-key',
  ]);
});

test('a control runs with the seed of its mutants, and repeats have seeds of their own', () => {
  const tasks = matrixTasks(MUTANTS, { seed: 4_294_967_295, repeats: 3, cleanSeeds: 0 });
  expect(tasks).toHaveLength(15);
  for (const task of tasks) expect(task.seed).toBe(tasks.find((other) => other.repeat === task.repeat)?.seed);
  const seeds = new Set(tasks.map(({ seed }) => seed));
  expect(seeds.size).toBe(3);
  for (const seed of seeds) expect(seed >= 1 && seed <= 4_294_967_295).toBe(true);
});

test('clean seeds are so many different ones, those of the repeats among them, and no two runs are the same', () => {
  const tasks = matrixTasks(MUTANTS, { seed: 1, repeats: 2, cleanSeeds: 9 });
  const controls = tasks.filter(({ mutant }) => mutant === null);
  expect(new Set(controls.map(({ seed }) => seed)).size).toBe(9);
  // Two plans, twice each with the mutants, and one run for each further seed.
  expect(controls).toHaveLength(4 + 7);
  expect(new Set(controls.slice(4).map(({ plan }) => plan.name)).size).toBe(2);
  expect(new Set(tasks.map(({ mutant, plan, seed }) => `${mutant?.name ?? ''} ${plan.name} ${String(seed)}`)).size).toBe(tasks.length);
});

test('what a broken-off matrix has run is not run again', () => {
  const [first, ...rest] = matrixTasks(MUTANTS, { seed: 1, repeats: 1, cleanSeeds: 0 });
  if (first === undefined) throw new Error('no task');
  const run = (over: Partial<MatrixRun>): MatrixRun => ({
    mutant: null, plan: first.plan.name, seed: first.seed, repeat: 1, outcome: 'green', judges: {}, faultsLanded: true, tookMs: 1, directory: null, problem: null, ...over,
  });
  expect(isDone(first, [run({})])).toBe(true);
  expect(rest.some((task) => isDone(task, [run({})]))).toBe(false);
  expect(isDone(first, [run({ seed: 2 }), run({ repeat: 2 }), run({ mutant: 'inbox-off' })])).toBe(false);
});

test('a run that showed nothing is made again, one that showed anything is not', () => {
  const run = (over: Partial<MatrixRun>): MatrixRun => ({
    mutant: 'inbox-off', plan: 'plain-sale', seed: 1, repeat: 1, outcome: 'unknown', judges: {}, faultsLanded: false, tookMs: 1, directory: null, problem: null, ...over,
  });
  expect([run({}), run({ outcome: 'failed' }), run({ outcome: 'void' })].map(showsSomething)).toEqual([false, false, false]);
  // A mutant that was run and not noticed has survived: trying again until somebody notices would be a lie.
  const noticed = { outcome: 'violated', judges: { 'no-oversell': 'violated' } } as const;
  expect([run({ outcome: 'green', faultsLanded: true }), run({ ...noticed, faultsLanded: true })].map(showsSomething)).toEqual([true, true]);
  // What was seen without the fault was something else than the matrix asks for; of the right system it is an alarm.
  expect([run(noticed), run({ ...noticed, mutant: null })].map(showsSomething)).toEqual([false, true]);
});
