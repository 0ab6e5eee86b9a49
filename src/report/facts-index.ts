/**
 * `facts/index.json`: what was saved and what could not be harvested.
 *
 * The counts and checksums never decide anything: whoever deletes a row by hand must see the judges find it (DESIGN §7), so a
 * difference is told as a note and the rows are judged as they are. Reasons of missing evidence do decide: they are the harvest's own.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { readDocument } from './evidence-file.js';
import { FACT_DOCUMENTS } from './run-layout.js';

export interface SavedFile {
  readonly path: string;
  /** Null for a document. */
  readonly rows: number | null;
  readonly bytes: number;
  readonly sha256: string;
}

export const EVIDENCE_NAMES = ['redis', 'kafka', 'postgres', 'commitLog', 'faults', 'settle', 'metrics', 'lottery', 'channel'] as const;
export type EvidenceName = (typeof EVIDENCE_NAMES)[number];

export interface FactsIndex {
  readonly schemaVersion: number;
  /** Evidence that the harvest itself did not get, with its reason. */
  readonly absent: Readonly<Partial<Record<EvidenceName, string>>>;
  readonly files: readonly SavedFile[];
}

/** The index, or null when it is gone or damaged: the facts can be judged without it. */
export async function readFactsIndex(directory: string): Promise<FactsIndex | null> {
  const index = await readDocument<FactsIndex>(directory, FACT_DOCUMENTS.index, { schemaVersion: 'number', absent: 'object', files: 'array' });
  return index.present ? index.value : null;
}

/** Notes on facts files that are not as the run left them; empty when none. For the reader only, never for a judge. */
export async function changesSinceRun(directory: string): Promise<readonly string[]> {
  const index = await readFactsIndex(directory);
  if (index === null) return [`${FACT_DOCUMENTS.index} is missing or damaged: cannot tell whether the facts were changed after the run`];
  const notes: string[] = [];
  for (const file of index.files) {
    let bytes: Buffer;
    try {
      bytes = await readFile(join(directory, file.path));
    } catch {
      continue; // A file that is gone is missing evidence already, with a reason of its own.
    }
    if (createHash('sha256').update(bytes).digest('hex') === file.sha256) continue;
    const rows = file.rows === null ? '' : ` (${String(file.rows)} rows were saved)`;
    notes.push(`${file.path} was changed after the run${rows}`);
  }
  return notes;
}
