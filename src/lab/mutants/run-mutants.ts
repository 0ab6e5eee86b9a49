/**
 * Runs mutants, and the system as it is under the same plans with the same seeds, on the lanes of one warm stack. What comes out is a list of runs;
 * `kill-matrix.ts` says what it means.
 */
import type { LabEvent } from '../../facts/lab-event.js';
import type { MatrixRun } from '../../facts/kill-matrix.js';
import type { RunStore } from '../../facts/run-store.js';
import type { RunVerdict } from '../../facts/verdict.js';
import type { Mutant } from '../../mutants/mutant.js';
import type { Scenario } from '../../scenarios/scenario.js';
import { runOnLanes } from '../cases/lane-scheduler.js';
import { dropWhatIsLeft, needsWholeStack, runCase, type CaseResult } from '../cases/run-case.js';
import type { WarmStack } from '../cases/warm-stack.js';
import { planRun } from '../run-plan.js';

/** A run to be made. */
export interface MatrixTask {
  readonly mutant: Mutant | null;
  readonly plan: Scenario;
  readonly seed: number;
  readonly repeat: number;
}

export interface MatrixFolder {
  /** A fresh folder of one run. */
  open(task: MatrixTask, startedAt: string): Promise<RunStore>;
  /** A run that was as it should be needs none any more. */
  discard(directory: string): Promise<void>;
  /** Told of each run as it ends, so that a broken-off matrix can go on. */
  append(run: MatrixRun): Promise<void>;
}

export interface MatrixSurroundings {
  readonly warm: WarmStack;
  readonly folder: MatrixFolder;
  readonly signal: AbortSignal;
  readonly argv: readonly string[];
  /** Keep every run's folder. */
  readonly keepAll: boolean;
  onRun(run: MatrixRun, done: number, of: number): void;
}

/** Seeds of repeats lie a prime apart, so that those of neighbouring first seeds do not meet. */
const SEED_STEP = 7_919;

/**
 * Each mutant under its plan, each plan once without a mutant, `repeats` times, each time with a seed of its own; after that the right system once for every further
 * seed up to `cleanSeeds` different ones, plan after plan. Controls come first: what the right system does not bear no mutant can show.
 */
export function matrixTasks(mutants: readonly Mutant[], options: { readonly seed: number; readonly repeats: number; readonly cleanSeeds: number }): readonly MatrixTask[] {
  const plans = [...new Set(mutants.map((mutant) => mutant.showsUnder))];
  const seedOf = (repeat: number): number => ((options.seed - 1 + (repeat - 1) * SEED_STEP) % 4_294_967_295) + 1;
  const tasks: MatrixTask[] = [];
  for (let repeat = 1; repeat <= options.repeats; repeat += 1) {
    const seed = seedOf(repeat);
    tasks.push(...plans.map((plan) => ({ mutant: null, plan, seed, repeat })), ...mutants.map((mutant) => ({ mutant, plan: mutant.showsUnder, seed, repeat })));
  }
  for (let repeat = options.repeats + 1; repeat <= options.cleanSeeds; repeat += 1) {
    const plan = plans[repeat % plans.length];
    if (plan !== undefined) tasks.push({ mutant: null, plan, seed: seedOf(repeat), repeat });
  }
  return tasks;
}

/** What has been run already, by mutant, plan and repeat. */
export function isDone(task: MatrixTask, runs: readonly MatrixRun[]): boolean {
  return runs.some((run) => run.mutant === (task.mutant?.name ?? null) && run.plan === task.plan.name && run.repeat === task.repeat && run.seed === task.seed);
}

/** Resolves with the runs made, in the order of ending; fewer than asked when the signal was raised. Rejects only for a bug. */
export async function runMatrix(tasks: readonly MatrixTask[], around: MatrixSurroundings): Promise<readonly MatrixRun[]> {
  const runs: MatrixRun[] = [];
  await runOnLanes(tasks, {
    lanes: around.warm.lanes,
    signal: around.signal,
    needsWholeStack: (task) => needsWholeStack(task.plan),
    async run(task, lane) {
      let run = await runOnce(task, lane, around);
      // A busy machine can keep a fault from striking or a store from answering in time: once more, and then it is unproven.
      if (!showsSomething(run) && !around.signal.aborted) run = await runOnce(task, lane, around);
      if (around.signal.aborted && run.outcome === 'failed') return;
      runs.push(run);
      await around.folder.append(run);
      around.onRun(run, runs.length, tasks.length);
    },
  });
  return runs;
}

/** False: the fault did not strike, evidence is missing, or the run could not be carried out. A resume makes such a run again. */
export function showsSomething(run: MatrixRun): boolean {
  if (run.mutant !== null && !run.faultsLanded) return false;
  return Object.values(run.judges).includes('violated') || (run.outcome !== 'failed' && run.outcome !== 'unknown' && run.outcome !== 'void');
}

async function runOnce(task: MatrixTask, lane: number, around: MatrixSurroundings): Promise<MatrixRun> {
  const options = { seed: task.seed };
  const plan = planRun(task.plan, options, task.mutant?.name ?? null);
  const store = await around.folder.open(task, plan.startedAt);
  const emit = (event: LabEvent): void => {
    store.appendEvent(event);
  };
  const result = await runCase(around.warm, lane, { plan, store, emit, signal: around.signal, argv: around.argv, options });
  const asItShouldBe = result.kind === 'judged' && (task.mutant === null ? result.verdict.outcome === 'green' : saysViolated(result.verdict, task.mutant.caughtBy));
  await dropWhatIsLeft(result, plan, around.warm);
  if (asItShouldBe && !around.keepAll) await around.folder.discard(store.directory);
  return runOf(task, result, asItShouldBe && !around.keepAll);
}

function saysViolated(verdict: RunVerdict, judge: string): boolean {
  return verdict.invariants.some(({ name, outcome }) => name === judge && outcome === 'violated');
}

function runOf({ mutant, plan, seed, repeat }: MatrixTask, result: CaseResult, discarded: boolean): MatrixRun {
  const common = { mutant: mutant?.name ?? null, plan: plan.name, seed, repeat, tookMs: result.tookMs, directory: discarded ? null : result.directory };
  if (result.kind === 'failed') return { ...common, outcome: 'failed', judges: {}, faultsLanded: false, problem: `${result.error.code}: ${result.error.message}` };
  const { verdict } = result;
  return {
    ...common,
    outcome: verdict.outcome,
    judges: Object.fromEntries(verdict.invariants.map(({ name, outcome }) => [name, outcome])),
    faultsLanded: verdict.faults.every((fault) => fault.proof === 'landed' && fault.strikes >= fault.strikesAsked),
    problem: discarded ? null : verdict.headline,
  };
}
