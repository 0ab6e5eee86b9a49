/**
 * `npm run bench -- [name …]`: speed, measured side by side, never in a timed test. Exit 1 when a bar is missed or was not measured, 2 when nothing is
 * worse than that a tool is not there, 254 for an unknown name. Needs an otherwise idle machine.
 */
import { LabError } from '../facts/lab-error.js';
import { startLocalStack } from '../stack/local/start-local-stack.js';
import type { RunningStack } from '../stack/running-stack.js';
import { BENCHES } from './registry.js';
import { choose, runBenches } from './run-benches.js';

async function main(names: readonly string[]): Promise<number> {
  const benches = choose(BENCHES, names);
  let started: Promise<RunningStack> | null = null;
  const stack = (): Promise<RunningStack> => (started ??= startLocalStack({ lanes: 1, onNote: () => undefined }));
  const stopped = async (): Promise<void> => {
    if (started !== null) await (await started).stop();
  };
  return runBenches(benches, { stack, print: (line) => process.stdout.write(`${line}\n`) }).finally(stopped);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (cause) {
  const isLab = cause instanceof LabError;
  process.stderr.write(`bench: ${isLab ? `${[cause.message, ...cause.details].join('\n')}\n  next: ${cause.nextStep}` : cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`);
  process.exitCode = isLab && cause.kind === 'usage' ? 254 : 2;
}
