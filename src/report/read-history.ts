/** The generator's files → the client's side of the evidence. Decoding is `facts/history-file.ts`; here are only the files. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expandArrivalPlan } from '../facts/arrival-plan.js';
import { decodeHistory, decodeTellings } from '../facts/history-file.js';
import type { HistoryFacts } from '../facts/history.js';
import type { LoadSpec } from '../facts/load-spec.js';
import type { Evidence } from '../facts/store-facts.js';
import { missing } from './evidence-file.js';
import { RUN_FILES } from './run-layout.js';

/**
 * Reads both files against the number of arrivals that the load spec expands to. A file that is gone is missing evidence; a damaged one is
 * an incomplete history, whose problems the judges answer with `unknown`.
 */
export async function readHistory(directory: string, load: LoadSpec): Promise<Evidence<HistoryFacts>> {
  let bytes: Buffer;
  let text: string;
  let scheduled: number;
  try {
    bytes = await readFile(join(directory, RUN_FILES.historyColumns));
    text = await readFile(join(directory, RUN_FILES.historyTellings), 'utf8');
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    const name = path?.endsWith(RUN_FILES.historyColumns) === true ? RUN_FILES.historyColumns : RUN_FILES.historyTellings;
    return missing(code === 'ENOENT' ? `${name} is missing` : `${name} cannot be read (${code ?? String(error)})`);
  }
  try {
    scheduled = expandArrivalPlan(load).length;
  } catch (error) {
    return missing(`the load of the run cannot be expanded: ${String(error)}`);
  }
  const columns = decodeHistory(bytes, scheduled);
  const tellings = decodeTellings(text);
  if (tellings.generator === null) return missing(tellings.problems.join('; '));
  const problems = [...columns.problems, ...tellings.problems];
  return { present: true, value: { columns: columns.columns, tellings: tellings.tellings, generator: tellings.generator, complete: problems.length === 0, problems } };
}
