/** Writes `history.bin`. Under another name until it is whole: a reader sees the whole file or none. */
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { checksumRows, encodeHistoryHeader, encodeHistoryRows, encodeHistoryTrailer } from '../facts/history-file.js';
import type { HistoryColumns } from '../facts/history.js';

export const HISTORY_FILE_NAME = 'history.bin';
/** 3 MiB at a time instead of 144 MB for three million arrivals. */
const ROWS_PER_WRITE = 65_536;

/** Rejects as the file system does. */
export async function writeHistory(directory: string, columns: HistoryColumns, startedUs: number): Promise<void> {
  const path = join(directory, HISTORY_FILE_NAME);
  const file = await open(`${path}.partial`, 'w');
  try {
    await file.appendFile(encodeHistoryHeader(columns.length, startedUs));
    let checksum = checksumRows(new Uint8Array(0));
    for (let from = 0; from < columns.length; from += ROWS_PER_WRITE) {
      const rows = encodeHistoryRows(columns, from, Math.min(columns.length, from + ROWS_PER_WRITE));
      checksum = checksumRows(rows, checksum);
      await file.appendFile(rows);
    }
    await file.appendFile(encodeHistoryTrailer(columns.length, checksum));
  } finally {
    await file.close();
  }
  await rename(`${path}.partial`, path);
}
