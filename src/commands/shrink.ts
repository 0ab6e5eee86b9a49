/**
 * `shrink <dir>`: runs a violated run again with less load and fewer faults, down to the smallest plan that still violates the same invariant in at least nine of
 * ten runs, and writes that plan file.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';

import { ExitCode } from '../exit-codes.js';
import type { ExperimentPlan } from '../facts/experiment-plan.js';
import { LabError } from '../facts/lab-error.js';
import { abortError } from '../lab/abort.js';
import { openWarmStack } from '../lab/cases/warm-stack.js';
import { judgeFacts } from '../lab/judge.js';
import { countFailures, runPlanOf } from '../lab/shrink/run-failures.js';
import { shrinkPlan, USUAL_LIMITS, type ShrinkOutcome } from '../lab/shrink/shrink-plan.js';
import { readHistory } from '../load/read-history.js';
import { readFacts, readManifest } from '../report/read-facts.js';
import { createRunFolder } from '../report/run-folder.js';
import type { CommandIo } from './command-io.js';

export interface ShrinkOptions {
  readonly out?: string;
  readonly lanes: string;
  readonly minutes: string;
}

interface Violated {
  readonly folder: string;
  readonly plan: ExperimentPlan;
  readonly invariants: readonly string[];
}

/**
 * 0: a plan was found, confirmed and written. 2: the failure does not come back often enough, or the time was up before it was confirmed. 105: Ctrl-C.
 * Rejects with `LabError` USAGE for a run that is not violated.
 */
export async function runShrink(directory: string, options: ShrinkOptions, argv: readonly string[], io: CommandIo): Promise<number> {
  const { lanes, minutes } = checkedNumbers(options);
  const violated = await violatedRun(directory);
  io.stderr(`shrinking ${violated.folder}: ${violated.invariants.join(', ')} violated\n`);
  const out = resolve(options.out ?? join(violated.folder, 'shrunk-plan.yaml'));
  const stop = new AbortController();
  const asked = { isAborted: false };
  const byUser = (): void => {
    asked.isAborted = true;
    stop.abort(abortError());
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, byUser);
  const timer = setTimeout(() => {
    stop.abort(new LabError('ABORTED', `not done in ${String(minutes)} minutes`, 'give it more with --minutes'));
  }, minutes * 60_000);

  try {
    const outcome = await search(violated, lanes, stop.signal, argv, io);
    const code = await tell(outcome, violated, out, io);
    return outcome.kind === 'stopped' && asked.isAborted ? ExitCode.aborted : code;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) process.removeListener(signal, byUser);
  }
}

function checkedNumbers(options: ShrinkOptions): { readonly lanes: number; readonly minutes: number } {
  const [lanes, minutes] = [Number(options.lanes), Number(options.minutes)];
  const problems = [
    ...(Number.isInteger(lanes) && lanes >= 1 && lanes <= 10 ? [] : [`--lanes ${options.lanes}: must be a whole number from 1 to 10`]),
    ...(minutes > 0 && minutes <= 600 ? [] : [`--minutes ${options.minutes}: must be from 1 to 600`]),
  ];
  if (problems.length > 0) throw new LabError('USAGE', problems.join('; '), 'see `seckill-lab shrink --help`');
  return { lanes, minutes };
}

async function violatedRun(directory: string): Promise<Violated> {
  const folder = resolve(directory);
  const facts = await readFacts(folder, readHistory);
  const manifest = await readManifest(folder);
  if (manifest === null) throw new LabError('NOT_A_RUN_FOLDER', `${folder} has no manifest, or a damaged one: nobody knows how it was run`, 'name the folder of another run');
  const verdict = judgeFacts(facts, { id: manifest.runId, startedAt: manifest.startedAt, directory: folder });
  const invariants = verdict.invariants.filter((judge) => judge.outcome === 'violated').map((judge) => judge.name);
  if (invariants.length === 0) throw new LabError('USAGE', `${folder} violates nothing (${verdict.headline}): there is nothing to shrink`, 'name the folder of a violated run');
  runPlanOf(manifest.plan);
  return { folder, plan: manifest.plan, invariants };
}

async function search(violated: Violated, lanes: number, signal: AbortSignal, argv: readonly string[], io: CommandIo): Promise<ShrinkOutcome> {
  const note = (text: string): void => {
    io.stderr(`${text}\n`);
  };
  const logDirectory = join(violated.folder, 'shrinking', 'logs');
  await mkdir(logDirectory, { recursive: true });
  const warm = await openWarmStack({ lanes, signal, logDirectory, onNote: note });
  try {
    const failures = { warm, invariants: violated.invariants, signal, argv, onRun: note, openFolder: (plan: { readonly scenario: { readonly name: string }; readonly startedAt: string; readonly seed: number }) => createRunFolder(join(violated.folder, 'shrinking'), plan.scenario.name, plan.startedAt, plan.seed) };
    return await shrinkPlan(violated.plan, { signal, onStep: note, failures: (plan, runs, enough) => countFailures(failures, plan, runs, enough) });
  } finally {
    await warm.stop();
  }
}

async function tell(outcome: ShrinkOutcome, violated: Violated, out: string, io: CommandIo): Promise<number> {
  if (outcome.kind === 'not-reproduced') {
    io.stdout(`the run violated ${violated.invariants.join(', ')}, and its plan does so in only ${String(outcome.failed)} of ${String(USUAL_LIMITS.confirmRuns)} runs: too seldom to shrink\n`);
    return ExitCode.unknown;
  }
  await writeFile(out, stringify(outcome.plan));
  const cuts = outcome.cuts.length === 0 ? 'nothing could be taken from it' : `taken from it: ${outcome.cuts.join('; ')}`;
  if (outcome.kind === 'stopped') {
    io.stdout(`stopped before it was confirmed; ${cuts}\nthe plan so far: ${out}\n`);
    return ExitCode.unknown;
  }
  io.stdout(`still violates ${violated.invariants.join(' or ')} in ${String(outcome.failed)} of ${String(USUAL_LIMITS.confirmRuns)} runs; ${cuts}\nseckill-lab run --plan ${out}\n`);
  return ExitCode.green;
}
