/** The end of a stack whose reaper was itself killed: the same sweep, from the reaper's journal. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { StackDescription } from '../../facts/stack-description.js';
import { REAPER_JOURNAL } from './reaper-protocol.js';
import { endProcesses, removeFolders } from './sweep.js';
import type { Sweepable } from './sweep.js';

/** Returns what could not be ended or removed, in words. Nothing to do when the folder is gone. */
export async function sweepWithoutReaper(description: StackDescription): Promise<string[]> {
  const journal = join(description.directory, REAPER_JOURNAL);
  // The folder is removed whole, so a wrong description must not be able to name just any folder.
  if (!basename(description.directory).startsWith('seckill-lab-') || !existsSync(journal)) return [];
  const problems = await endProcesses(readJournal(readFileSync(journal, 'utf8')));
  return [...problems, ...(await removeFolders([description.directory]))];
}

/** A reaper killed in the middle of a line leaves half of one. */
function readJournal(text: string): Sweepable[] {
  return text.split('\n').flatMap((line) => {
    try {
      const { pid, startTicks, postgresData } = JSON.parse(line) as { pid: number; startTicks: string; postgresData: string | null };
      return [{ leader: { pid, startTicks }, postgresData }];
    } catch {
      return [];
    }
  });
}
