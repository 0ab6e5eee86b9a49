/**
 * `seckill-lab mutants`: every wrong design under its own small run, the system as it is beside it, and the kill matrix that follows.
 *
 * Exit code 0: every mutant was killed by the judge that must, and the right system was green. 1: a judge is blind, or cries wolf. 2: a mutant or a control showed
 * nothing, twice. 105: Ctrl-C; `--resume` goes on.
 */
import { ExitCode } from '../exit-codes.js';
import type { MatrixRun } from '../facts/kill-matrix.js';
import { openWarmStack } from '../lab/cases/warm-stack.js';
import { packageRoot } from '../lab/package-root.js';
import { gitState } from '../lab/provenance.js';
import { killMatrix } from '../lab/mutants/kill-matrix.js';
import { parseMutantOptions, type MutantOptions } from '../lab/mutants/mutant-options.js';
import { isDone, matrixTasks, runMatrix, showsSomething, type MatrixTask } from '../lab/mutants/run-mutants.js';
import { INVARIANTS } from '../invariants/registry.js';
import type { Mutant } from '../mutants/mutant.js';
import { MUTANTS, REDUCED_MUTANTS } from '../mutants/registry.js';
import { createMatrixFolder, openMatrixFolder, type MatrixFolderOnDisk, type MatrixPlan } from '../report/matrix-folder.js';
import { matrixInMarkdown } from '../report/matrix-markdown.js';
import { codeDigest } from '../stack/images/code-digest.js';
import { brokenOff } from './broken-off.js';
import type { CommandIo } from './command-io.js';
import { listenForAbort } from './listen-for-abort.js';
import { refuseOtherCode } from './refuse-other-code.js';

interface Begun {
  readonly folder: MatrixFolderOnDisk;
  readonly options: MutantOptions;
  readonly mutants: readonly Mutant[];
  readonly startedAt: string;
  readonly runs: readonly MatrixRun[];
}

const KNOWN = { mutants: MUTANTS.map(({ name }) => name), judges: INVARIANTS.map(({ name }) => name) };

function chosen({ only, reduced }: MutantOptions): readonly Mutant[] {
  if (only.length > 0) return MUTANTS.filter(({ name }) => only.includes(name));
  return reduced ? REDUCED_MUTANTS : MUTANTS;
}

async function begin(raw: Readonly<Record<string, unknown>>): Promise<Begun> {
  const resumed = typeof raw['resume'] === 'string' ? await openMatrixFolder(raw['resume']) : null;
  if (resumed === null) {
    const options = parseMutantOptions(raw, KNOWN);
    const mutants = chosen(options);
    const startedAt = new Date().toISOString();
    const folder = await createMatrixFolder(typeof raw['reportDir'] === 'string' ? raw['reportDir'] : 'reports', startedAt, options.seed);
    await folder.savePlan(planOf(options, mutants, startedAt));
    return { folder, options, mutants, startedAt, runs: [] };
  }
  const { plan, folder, runs } = resumed;
  refuseOtherCode(`the matrix in ${folder.directory}`, plan);
  const { seed, repeats, cleanSeeds, reduced, mutants, startedAt } = plan;
  // What was asked stays; how it is run and weighed may change.
  const options = parseMutantOptions({ lanes: raw['lanes'], withoutJudge: raw['withoutJudge'], seed, repeats, cleanSeeds, reduced, only: [...mutants] }, KNOWN);
  return { folder, options, mutants: chosen(options), startedAt, runs: runs.filter(showsSomething) };
}

function planOf({ seed, repeats, cleanSeeds, reduced }: MutantOptions, mutants: readonly Mutant[], startedAt: string): MatrixPlan {
  return { startedAt, gitSha: gitState().sha, codeDigest: codeDigest(packageRoot()), seed, repeats, cleanSeeds, reduced, mutants: mutants.map(({ name }) => name) };
}

function lineOf(run: MatrixRun): string {
  const violated = Object.entries(run.judges).filter(([, said]) => said === 'violated').map(([judge]) => judge);
  const caughtBy = MUTANTS.find(({ name }) => name === run.mutant)?.caughtBy ?? null;
  const who = run.mutant === null ? `the system as it is under ${run.plan}` : `${run.mutant} under ${run.plan}`;
  const said = caughtBy === null ? run.outcome : violated.includes(caughtBy) ? `killed by ${caughtBy}` : `NOT killed by ${caughtBy} (${run.outcome})`;
  const others = violated.filter((judge) => judge !== caughtBy);
  return `${who}: ${said}${others.length === 0 ? '' : `, seen by ${others.join(', ')}`}  ${(run.tookMs / 1000).toFixed(1)} s${run.directory === null ? '' : `  ${run.directory}`}`;
}

async function runAll({ folder, options, runs }: Begun, tasks: readonly MatrixTask[], raw: Readonly<Record<string, unknown>>, argv: readonly string[], io: CommandIo): Promise<readonly MatrixRun[]> {
  const abort = new AbortController();
  const stopListening = listenForAbort(abort);
  try {
    const warm = await openWarmStack({
      lanes: Math.min(options.lanes, Math.max(1, tasks.length)),
      signal: abort.signal,
      logDirectory: await folder.logDirectory(),
      onNote: (text) => {
        io.stderr(`  ${text}\n`);
      },
    });
    try {
      const made = await runMatrix(tasks, {
        warm, argv, signal: abort.signal, keepAll: raw['keepAll'] === true,
        folder: {
          open: ({ mutant, plan, seed }, startedAt) => folder.open(mutant?.name ?? plan.name, startedAt, seed),
          discard: (directory) => folder.discard(directory),
          append: (run) => folder.append(run),
        },
        onRun: (run, done, of) => {
          io.stderr(`  ${String(done).padStart(String(of).length)}/${String(of)}  ${lineOf(run)}\n`);
        },
      });
      if (abort.signal.aborted) throw brokenOff('mutants', folder.directory);
      return [...runs, ...made];
    } finally {
      await warm.stop();
    }
  } finally {
    stopListening();
  }
}

export async function runMutants(raw: Readonly<Record<string, unknown>>, argv: readonly string[], io: CommandIo): Promise<number> {
  const begun = await begin(raw);
  const { folder, options, mutants, startedAt } = begun;
  const tasks = matrixTasks(mutants, options).filter((task) => !isDone(task, begun.runs));
  io.stderr(`${String(mutants.length)} mutants, ${String(options.repeats)} repeats, seed ${String(options.seed)}: ${String(tasks.length)} runs to make, report ${folder.directory}\n`);
  const runs = tasks.length === 0 ? begun.runs : await runAll(begun, tasks, raw, argv, io);
  const { seed, repeats, reduced, withoutJudges } = options;
  const complete = mutants.length === MUTANTS.length;
  const matrix = killMatrix({ startedAt, seed, repeats, reduced, withoutJudges, complete, mutants, judges: KNOWN.judges }, runs);
  await folder.saveMatrix(matrix);
  io.stdout(raw['json'] === true ? `${JSON.stringify(matrix, null, 2)}\n` : matrixInMarkdown(matrix));
  if (matrix.exitCode !== ExitCode.green) for (const problem of matrix.problems) io.stderr(`mutants: ${problem}\n`);
  return matrix.exitCode;
}
