// The folder of a matrix: what was planned and run can be read again, a cut-off line is no run, and the matrix is written for people too.
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, expect, test } from 'vitest';

import type { KillMatrix, MatrixRun } from '../facts/kill-matrix.js';
import { createMatrixFolder, openMatrixFolder } from './matrix-folder.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const RUN: MatrixRun = { mutant: 'thief', plan: 'a-sale', seed: 1, repeat: 1, outcome: 'violated', judges: { oversell: 'violated' }, faultsLanded: true, tookMs: 5_000, directory: null, problem: null };
const MATRIX: KillMatrix = {
  schemaVersion: 1, startedAt: '2026-01-01T00:00:00.000Z', seed: 1, repeats: 1, reduced: false, withoutJudges: [], complete: true,
  mutants: [{ name: 'thief', description: 'steals', warnedBy: '000 §1', plan: 'a-sale', caughtBy: 'oversell', runs: 1, killed: 1, survived: 0, unproven: 0, end: 'killed', medianMs: 5_000, violatedBy: { oversell: 1, lost: 1 } }],
  controls: [{ plan: 'a-sale', runs: 1, green: 1, alarms: 0, unproven: 0, medianMs: null }],
  judges: [{ name: 'oversell', soleKillerOf: [], sees: ['thief'], reason: 'lost sees it too' }, { name: 'lost', soleKillerOf: ['thief'], sees: [], reason: null }],
  problems: ['lost is asleep'], outcome: 'judges-blind', exitCode: 1,
};

async function fresh() {
  const base = await mkdtemp(join(tmpdir(), 'matrix-'));
  folders.push(base);
  return createMatrixFolder(base, MATRIX.startedAt, 1);
}

test('plan and runs are read back, and a line cut off in the middle is no run', async () => {
  const folder = await fresh();
  const plan = { startedAt: MATRIX.startedAt, gitSha: null, codeDigest: 'f00d', seed: 1, repeats: 1, cleanSeeds: 0, reduced: false, mutants: ['thief'] };
  await folder.savePlan(plan);
  await folder.append(RUN);
  await appendFile(join(folder.directory, 'runs.ndjson'), '{"mutant":"thi');
  expect(await openMatrixFolder(folder.directory)).toMatchObject({ plan, runs: [RUN] });
});

test('a folder of something else is refused', async () => {
  const folder = await fresh();
  await expect(openMatrixFolder(folder.directory)).rejects.toThrow('is no folder of a kill matrix');
});

test('the document fits its schema, and the words name mutants, judges and problems', async () => {
  const folder = await fresh();
  await folder.saveMatrix(MATRIX);
  const saved: unknown = JSON.parse(await readFile(join(folder.directory, 'matrix.json'), 'utf8'));
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(await readFile(new URL('../../schema/kill-matrix.schema.json', import.meta.url), 'utf8')) as object);
  expect([validate(saved), validate.errors]).toEqual([true, null]);
  expect(validate({ ...MATRIX, outcome: 'fine' })).toBe(false);
  const words = await readFile(join(folder.directory, 'matrix.md'), 'utf8');
  for (const said of ['| thief | 000 §1 | a-sale | oversell | 1 of 1 | 5.0 s | lost 1 |', '- lost is asleep', '| thief | **1** | 1 |', '| a-sale | 1 | 1 | 0 | 0 | – |']) expect(words).toContain(said);
});
