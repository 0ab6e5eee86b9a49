/** `seckill-lab up`: starts a stack that stays, and writes `stack.json`. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { openStack } from '../stack/open-stack.js';
import type { RunningStack } from '../stack/running-stack.js';
import { LOCAL_STACK, startStack, type StackRequest } from '../stack/start-stack.js';
import { DEFAULT_STACK_FILE, readStackFile, writeStackFile } from '../stack/stack-file.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export interface UpOptions {
  readonly stackFile?: string;
  readonly lanes?: number;
  readonly request?: StackRequest;
  readonly signal?: AbortSignal;
}

/** 0 when the stack runs and its file is written; 2 when it cannot start; 254 when the file names a stack that runs already. */
export async function runUp(options: UpOptions, io: CommandIo): Promise<number> {
  const file = options.stackFile ?? DEFAULT_STACK_FILE;
  try {
    await refuseSecondStack(file);
    const stack = await startStack(options.request ?? LOCAL_STACK, {
      mayOutliveLab: true,
      lanes: options.lanes ?? 1,
      onNote: (text) => {
        io.stderr(`up: ${text}\n`);
      },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    // Until the file is written nobody could end the stack, so until then it dies with this process.
    try {
      await writeStackFile(file, stack.description);
    } catch (error) {
      await stack.stop();
      throw error;
    }
    await stack.release();
    io.stderr(`up: the stack is running in ${stack.description.directory}; end it with: npx seckill-lab down --stack-file ${file}\n`);
    io.stdout(`${resolve(file)}\n`);
    return ExitCode.green;
  } catch (error) {
    return reportError(error, io);
  }
}

/** Writing over the file of a running stack would leave that stack without a handle. */
async function refuseSecondStack(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const running = await openIfRunning(file);
  if (running === null) return;
  await running.release();
  throw new LabError('USAGE', `${resolve(file)} describes a stack that is running`, `npx seckill-lab down --stack-file ${file}, or name another file`);
}

/** null: it runs no more, or the file is of no stack. LabError when nobody can tell, as without the engine of its containers. */
async function openIfRunning(file: string): Promise<RunningStack | null> {
  try {
    return await openStack(await readStackFile(file));
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    if (error.code === 'STACK_GONE' || error.code === 'STACK_FILE_INVALID') return null;
    throw new LabError(error.code, `${resolve(file)} describes a stack that may be running: ${error.message}`, `${error.nextStep}; or name another file with --stack-file`, { cause: error });
  }
}
