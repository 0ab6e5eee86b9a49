/** `check <dir>`: judges a saved run again, offline, from its files alone. Same facts, same judges, same exit code; nothing is written. */
import { basename, resolve } from 'node:path';

import { judgeFacts } from '../lab/judge.js';
import { readHistory } from '../load/read-history.js';
import { changesSinceRun } from '../report/facts-index.js';
import { readFacts, readManifest } from '../report/read-facts.js';
import { verdictDocument } from '../report/save-verdict.js';
import { finalReport } from '../tui/final-report.js';
import type { CommandIo } from './command-io.js';

/**
 * Prints the verdict and resolves with its exit code. Rejects with `LabError`: NOT_A_RUN_FOLDER (254), HARVEST_FAILED when the run
 * ended before its facts were saved (2).
 */
export async function runCheck(directory: string, options: { readonly json?: boolean }, io: CommandIo): Promise<number> {
  const folder = resolve(directory);
  const facts = await readFacts(folder, readHistory);
  const manifest = await readManifest(folder);
  const notes = [...(await changesSinceRun(folder))];
  if (manifest === null) notes.push('manifest.json is missing or damaged: the run’s id and time are taken from the facts');
  const verdict = judgeFacts(facts, {
    id: manifest?.runId ?? `${facts.run.scenario}/${basename(folder)}`,
    startedAt: manifest?.startedAt ?? new Date(facts.run.clock.atStart.wallUs / 1000).toISOString(),
    directory: folder,
  });
  if (options.json === true) {
    for (const note of notes) io.stderr(`note: ${note}\n`);
    io.stdout(verdictDocument(verdict));
  } else {
    io.stdout(finalReport(verdict, notes));
  }
  return verdict.exitCode;
}
