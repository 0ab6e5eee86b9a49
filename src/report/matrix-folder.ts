/** The folder of a kill matrix: `matrix.json`, `matrix.md`, `runs.ndjson` (one line a run, as it ends) and the folders of runs that were not as they should be. */
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { KillMatrix, MatrixRun } from '../facts/kill-matrix.js';
import type { RunStore } from '../facts/run-store.js';
import { LabError } from '../facts/lab-error.js';
import { matrixInMarkdown } from './matrix-markdown.js';
import { createRunFolder, makeReportFolder } from './run-folder.js';
import { unusable, writeDocument } from './write-file.js';

export const MATRIX_FILES = { matrix: 'matrix.json', words: 'matrix.md', runs: 'runs.ndjson', plan: 'plan.json', logs: 'logs' } as const;

/** What a broken-off matrix needs to go on. */
export interface MatrixPlan {
  readonly startedAt: string;
  /** Of the checkout; null when there is none. */
  readonly gitSha: string | null;
  /** Of the code that runs; runs of other code are never put beside these. */
  readonly codeDigest: string;
  readonly seed: number;
  readonly repeats: number;
  readonly cleanSeeds: number;
  readonly reduced: boolean;
  readonly mutants: readonly string[];
}

export class MatrixFolderOnDisk {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  async savePlan(plan: MatrixPlan): Promise<void> {
    await writeDocument(this.directory, MATRIX_FILES.plan, `${JSON.stringify(plan, null, 2)}\n`);
  }

  /** Made if it is not there: for the logs of processes that serve one run after another. */
  async logDirectory(): Promise<string> {
    const path = join(this.directory, MATRIX_FILES.logs);
    await mkdir(path, { recursive: true });
    return path;
  }

  open(name: string, startedAt: string, seed: number): Promise<RunStore> {
    return createRunFolder(this.directory, name, startedAt, seed);
  }

  async discard(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true });
  }

  async append(run: MatrixRun): Promise<void> {
    const path = join(this.directory, MATRIX_FILES.runs);
    await appendFile(path, `${JSON.stringify(run)}\n`).catch((error: unknown) => {
      throw unusable(path, error);
    });
  }

  async saveMatrix(matrix: KillMatrix): Promise<void> {
    await writeDocument(this.directory, MATRIX_FILES.matrix, `${JSON.stringify(matrix, null, 2)}\n`);
    await writeDocument(this.directory, MATRIX_FILES.words, matrixInMarkdown(matrix));
  }
}

/** `<base>/mutants/<UTC>-<seed>/`. */
export async function createMatrixFolder(baseDirectory: string, startedAt: string, seed: number): Promise<MatrixFolderOnDisk> {
  return new MatrixFolderOnDisk(await makeReportFolder(baseDirectory, 'mutants', startedAt, seed));
}

/** A folder that was begun before, with what has been run. LabError USAGE when it is none. */
export async function openMatrixFolder(directory: string): Promise<{ readonly folder: MatrixFolderOnDisk; readonly plan: MatrixPlan; readonly runs: readonly MatrixRun[] }> {
  const read = (file: string): Promise<string> => readFile(join(directory, file), 'utf8');
  try {
    const plan = JSON.parse(await read(MATRIX_FILES.plan)) as MatrixPlan;
    const lines = (await read(MATRIX_FILES.runs).catch(() => '')).split('\n').filter((line) => line !== '');
    // The last line may have been cut off in the middle: that run is made again.
    const runs = lines.flatMap((line): MatrixRun[] => {
      try {
        return [JSON.parse(line) as MatrixRun];
      } catch {
        return [];
      }
    });
    return { folder: new MatrixFolderOnDisk(directory), plan, runs };
  } catch (cause) {
    throw new LabError('USAGE', `${directory} is no folder of a kill matrix: ${cause instanceof Error ? cause.message : String(cause)}`, 'name a folder that `seckill-lab mutants` has begun, or leave --resume out', { cause });
  }
}
