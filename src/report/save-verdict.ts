/** The three files that say how a run ended: for programs, for CI, for people. */
import type { RunVerdict } from '../facts/verdict.js';
import { junitOf } from './junit.js';
import { RUN_FILES } from './run-layout.js';
import { summaryOf } from './summary.js';
import { writeDocument } from './write-file.js';

/** The document of `--json` and of verdict.json: described by `schema/verdict.schema.json`. */
export function verdictDocument(verdict: RunVerdict): string {
  return `${JSON.stringify(verdict, null, 2)}\n`;
}

export async function saveVerdict(directory: string, verdict: RunVerdict): Promise<void> {
  await writeDocument(directory, RUN_FILES.junit, junitOf(verdict));
  await writeDocument(directory, RUN_FILES.summary, summaryOf(verdict));
  // Last: who sees verdict.json may rely on the other two.
  await writeDocument(directory, RUN_FILES.verdict, verdictDocument(verdict));
}
