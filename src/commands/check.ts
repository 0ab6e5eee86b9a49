/**
 * `check <dir>`: judges a saved run again, offline, from its files alone. Same facts, same judges, same exit code; nothing is written. With `--corrupt` the
 * facts of a green run are then made untrue in every known way, to see that these judges would have noticed.
 */
import { basename, resolve } from 'node:path';

import { ExitCode } from '../exit-codes.js';
import type { Facts } from '../facts/facts.js';
import { LabError } from '../facts/lab-error.js';
import type { Invariant } from '../invariants/invariant.js';
import { invariantNamed } from '../invariants/registry.js';
import { judgeFacts } from '../lab/judge.js';
import { judgeCorrupted } from '../lab/judge-corrupted.js';
import { readHistory } from '../load/read-history.js';
import { changesSinceRun } from '../report/facts-index.js';
import { readFacts, readManifest } from '../report/read-facts.js';
import { verdictDocument } from '../report/save-verdict.js';
import { HISTORY_MUTANTS } from '../mutants/history/registry.js';
import { finalReport } from '../tui/final-report.js';
import type { CommandIo } from './command-io.js';
import { corruptionReport } from './corruption-report.js';

export interface CheckOptions {
  readonly json?: boolean;
  readonly corrupt?: string;
  readonly seed?: string;
}

/**
 * Prints the verdict and resolves with its exit code. Rejects with `LabError`: NOT_A_RUN_FOLDER (254), HARVEST_FAILED when the run
 * ended before its facts were saved (2).
 */
export async function runCheck(directory: string, options: CheckOptions, io: CommandIo): Promise<number> {
  const corruption = options.corrupt === undefined ? null : corruptionAsked(options.corrupt, options.seed ?? '1');
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
  // Only where all invariants hold can that be false comfort; of anything else the judges have shown what they see.
  const allHold = verdict.outcome === 'green' || verdict.outcome === 'service-level-missed';
  if (corruption === null || !allHold) return verdict.exitCode;
  const outcome = judgeCorrupted(facts, namedJudges(facts), HISTORY_MUTANTS, corruption, () => performance.now());
  const report = corruptionReport(outcome);
  if (options.json === true) io.stderr(report);
  else io.stdout(report);
  return outcome.cases.some((each) => each.problem !== '') ? ExitCode.unknown : verdict.exitCode;
}

function corruptionAsked(repeats: string, seed: string): { readonly repeats: number; readonly seed: number } {
  const asked = { repeats: Number(repeats), seed: Number(seed) };
  const problems = [
    ...(Number.isInteger(asked.repeats) && asked.repeats >= 1 && asked.repeats <= 100 ? [] : [`--corrupt ${repeats}: must be a whole number from 1 to 100`]),
    ...(Number.isInteger(asked.seed) && asked.seed >= 1 && asked.seed <= 4_294_967_295 ? [] : [`--seed ${seed}: must be a whole number from 1 to 4294967295`]),
  ];
  if (problems.length > 0) throw new LabError('USAGE', problems.join('; '), 'see `seckill-lab check --help`');
  return asked;
}

/** The judges of this run that hold: not-judged ones see nothing here. */
function namedJudges(facts: Facts): readonly Invariant[] {
  return facts.run.invariants.flatMap((name) => invariantNamed(name) ?? []).filter((judge) => judge.judge(facts).outcome === 'holds');
}
