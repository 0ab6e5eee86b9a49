/**
 * A sweep on disk: `sweep.json` (head, once the counting is over), `rows.ndjson` (a line per finished case, written at once), `table.md`, `cases/` (run folders
 * of what is not green), `logs/` (the warm processes). A sweep that was killed goes on from the first two.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { LabError } from '../facts/lab-error.js';
import type { SweepHead, SweepRow, SweepStore } from '../facts/sweep.js';
import { runFolderName } from './run-folder.js';
import { unusable, writeDocument } from './write-file.js';

const HEAD = 'sweep.json';
const ROWS = 'rows.ndjson';
const TABLE = 'table.md';
export const SWEEP_CASES_FOLDER = 'cases';
export const SWEEP_LOGS_FOLDER = 'logs';

function storeIn(directory: string): SweepStore {
  return {
    directory,
    async saveHead(head) {
      await writeDocument(directory, HEAD, `${JSON.stringify(head, null, 1)}\n`);
    },
    appendRow(row) {
      try {
        appendFileSync(join(directory, ROWS), `${JSON.stringify(row)}\n`);
      } catch (error) {
        throw unusable(join(directory, ROWS), error);
      }
    },
    async saveTable(text) {
      await writeDocument(directory, TABLE, text);
    },
  };
}

/** Makes `<base>/sweep/<UTC>-<seed>`. LabError REPORT_FOLDER_UNUSABLE. */
export async function createSweepFolder(baseDirectory: string, startedAt: Date, seed: number): Promise<SweepStore> {
  const directory = resolve(baseDirectory, 'sweep', runFolderName(startedAt, seed));
  try {
    await mkdir(join(directory, SWEEP_LOGS_FOLDER), { recursive: true });
    await mkdir(join(directory, SWEEP_CASES_FOLDER), { recursive: true });
  } catch (error) {
    throw unusable(directory, error);
  }
  return storeIn(directory);
}

export interface SavedSweep {
  readonly store: SweepStore;
  readonly head: SweepHead;
  readonly rows: readonly SweepRow[];
}

/** LabError USAGE when the folder holds no sweep that has got as far as its first case. */
export function readSweepFolder(folder: string): SavedSweep {
  const directory = resolve(folder);
  let head: SweepHead;
  try {
    head = JSON.parse(readFileSync(join(directory, HEAD), 'utf8')) as SweepHead;
  } catch (cause) {
    throw new LabError('USAGE', `${directory} holds no sweep to go on with`, 'name the folder that the sweep printed, or start a new one', { cause });
  }
  if ((head.schemaVersion as number) !== 2) throw new LabError('USAGE', `${directory} was written by another version`, 'start a new sweep');
  return { store: storeIn(directory), head, rows: readRows(directory) };
}

/** A torn last line is a row that was never written; a second row of a case replaces the first. */
function readRows(directory: string): SweepRow[] {
  let text = '';
  try {
    text = readFileSync(join(directory, ROWS), 'utf8');
  } catch {
    return [];
  }
  const rows = new Map<string, SweepRow>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    try {
      const row = JSON.parse(line) as SweepRow;
      rows.set(row.id, row);
    } catch {
      continue;
    }
  }
  return [...rows.values()];
}
