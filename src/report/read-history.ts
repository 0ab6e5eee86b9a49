/** The generator's files → the client's side of the evidence. */
import type { HistoryFacts } from '../facts/history.js';
import type { Evidence } from '../facts/store-facts.js';
import { missing } from './evidence-file.js';

export async function readHistory(directory: string): Promise<Evidence<HistoryFacts>> {
  return Promise.resolve(missing(`no history in ${directory}`));
}
