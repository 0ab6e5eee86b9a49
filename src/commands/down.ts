/** `seckill-lab down`: ends the stack of a `stack.json`. Ending one that is gone is no error. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import { openStack, sweepStack } from '../stack/open-stack.js';
import { DEFAULT_STACK_FILE, readStackFile, removeStackFile } from '../stack/stack-file.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export interface DownOptions {
  readonly stackFile?: string;
}

/** 0 when nothing of the stack is left, also when there was none; 2 when something could not be ended or the file is no stack file. */
export async function runDown(options: DownOptions, io: CommandIo): Promise<number> {
  const file = options.stackFile ?? DEFAULT_STACK_FILE;
  if (!existsSync(file)) {
    io.stderr(`down: no stack file ${resolve(file)}, nothing to end\n`);
    return ExitCode.green;
  }
  try {
    const description = await readStackFile(file);
    const problems = await endStack(description, io);
    for (const problem of problems) io.stderr(`down: ${problem}\n`);
    if (problems.length > 0) return ExitCode.unknown;
    await removeStackFile(file);
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  }
}

/** By its reaper where that lives, else by the reaper's journal. */
async function endStack(description: StackDescription, io: CommandIo): Promise<readonly string[]> {
  const problems: string[] = [];
  try {
    const stack = await openStack(description, { onNote: (text) => problems.push(text) });
    await stack.stop();
    io.stderr(`down: ended the stack in ${description.directory}\n`);
    return problems;
  } catch (error) {
    if (!(error instanceof LabError) || error.code !== 'STACK_GONE') throw error;
  }
  // Containers outlive a reboot, and the folder that a cleaner of temporary files has taken.
  if (description.provider !== 'containers' && !existsSync(description.directory)) {
    io.stderr('down: the stack had ended already\n');
    return [];
  }
  io.stderr(`down: the stack's reaper is gone; cleaning up ${description.directory}\n`);
  return sweepStack(description);
}
