/**
 * Writing files of a run. A whole document goes through a temporary name and a rename, so that a reader never meets half of it; failures
 * become a `LabError` that says what to do, because the usual cause is a full disk.
 */
import { createHash } from 'node:crypto';
import { open, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../facts/lab-error.js';
import type { SavedFile } from './facts-index.js';

/** Rows are joined into pieces of about this size before each write: few system calls, little memory. */
const PIECE_BYTES = 1 << 20;

export function unusable(path: string, error: unknown): LabError {
  const reason = error instanceof Error ? error.message : String(error);
  return new LabError('REPORT_FOLDER_UNUSABLE', `cannot write ${path}: ${reason}`, 'Make room there or choose another folder with --report-dir.', { cause: error });
}

export async function writeDocument(directory: string, path: string, text: string): Promise<SavedFile> {
  const target = join(directory, path);
  const bytes = Buffer.from(text, 'utf8');
  try {
    await writeFile(`${target}.part`, bytes);
    await rename(`${target}.part`, target);
  } catch (error) {
    throw unusable(target, error);
  }
  return { path, rows: null, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function writeRows(directory: string, path: string, rows: readonly unknown[]): Promise<SavedFile> {
  const target = join(directory, path);
  const hash = createHash('sha256');
  let total = 0;
  try {
    const file = await open(`${target}.part`, 'w');
    try {
      let piece = '';
      const flush = async (): Promise<void> => {
        const bytes = Buffer.from(piece, 'utf8');
        piece = '';
        hash.update(bytes);
        total += bytes.length;
        await file.writeFile(bytes);
      };
      for (const row of rows) {
        piece += `${JSON.stringify(row)}\n`;
        if (piece.length >= PIECE_BYTES) await flush();
      }
      await flush();
    } finally {
      await file.close();
    }
    await rename(`${target}.part`, target);
  } catch (error) {
    throw unusable(target, error);
  }
  return { path, rows: rows.length, bytes: total, sha256: hash.digest('hex') };
}
