/** An error as a person reads it: one or two lines and the next step; the exit code by its kind. */
import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import type { CommandIo } from './command-io.js';

const EXIT_BY_KIND = { usage: ExitCode.usage, unusable: ExitCode.unknown, aborted: ExitCode.aborted } as const;

/** Prints the error to stderr and says which exit code it means. Everything that is not a `LabError` is a bug of the lab: 255. */
export function reportError(cause: unknown, io: CommandIo): number {
  if (cause instanceof LabError) {
    io.stderr(`seckill-lab: ${cause.message}\n`);
    for (const line of cause.details) io.stderr(`  | ${line}\n`);
    io.stderr(`  next: ${cause.nextStep}\n`);
    return EXIT_BY_KIND[cause.kind];
  }
  io.stderr(`seckill-lab crashed; this is a bug of the lab: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
  return ExitCode.crashed;
}
