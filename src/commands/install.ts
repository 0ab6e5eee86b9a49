/** `seckill-lab install [--with-deps]`: gets what the local stack needs. */
import { ExitCode } from '../exit-codes.js';
import { installDependencies } from '../stack/install/install-dependencies.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';

export interface InstallCommandOptions {
  readonly withDeps?: boolean;
}

/** 0 when all is there; 2 when something could not be had. */
export async function runInstall(options: InstallCommandOptions, io: CommandIo): Promise<number> {
  let said = 0;
  const onNote = (text: string): void => {
    said += 1;
    io.stderr(`install: ${text}\n`);
  };
  try {
    await installDependencies({ withDeps: options.withDeps === true, onNote });
  } catch (error) {
    return reportError(error, io);
  }
  io.stderr(said === 0 ? 'install: everything is there already\n' : 'install: done\n');
  return ExitCode.green;
}
