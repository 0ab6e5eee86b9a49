/**
 * Makes a failing plan as small as it can be and still fail. Runs are not deterministic, so one failure proves little: a cut is taken only when the smaller plan
 * failed every time it was tried, and the result is confirmed by many runs; when it does not hold, the last cuts are taken back.
 */
import type { ExperimentPlan } from '../../facts/experiment-plan.js';
import { smallerPlans, type SmallerPlan } from './smaller-plans.js';

export interface ShrinkSurroundings {
  /**
   * Runs the plan so many times, side by side if it can, and says how often it failed in the way that is looked for. May stop early when fewer than `enough`
   * failures are certain.
   */
  failures(plan: ExperimentPlan, runs: number, enough: number): Promise<number>;
  onStep(text: string): void;
  /** Ctrl-C, or the time is up: what has been found so far is kept. */
  readonly signal: AbortSignal;
}

export interface ShrinkLimits {
  /** Runs a cut has to fail in, all of them. */
  readonly runsPerCut: number;
  readonly confirmRuns: number;
  /** Of `confirmRuns`. */
  readonly confirmFailures: number;
}

export const USUAL_LIMITS: ShrinkLimits = { runsPerCut: 3, confirmRuns: 10, confirmFailures: 9 };

export type ShrinkOutcome =
  /** `failed` of `USUAL_LIMITS.confirmRuns` runs of `plan` failed. */
  | { readonly kind: 'shrunk'; readonly plan: ExperimentPlan; readonly cuts: readonly string[]; readonly failed: number }
  /** Even as it was it fails too seldom. */
  | { readonly kind: 'not-reproduced'; readonly failed: number }
  /** Stopped before it was confirmed. */
  | { readonly kind: 'stopped'; readonly plan: ExperimentPlan; readonly cuts: readonly string[] };

interface Taken extends SmallerPlan {
  readonly before: ExperimentPlan;
}

export async function shrinkPlan(whole: ExperimentPlan, around: ShrinkSurroundings, limits: ShrinkLimits = USUAL_LIMITS): Promise<ShrinkOutcome> {
  const taken: Taken[] = [];
  const current = (): ExperimentPlan => taken.at(-1)?.plan ?? whole;
  const cuts = (): readonly string[] => taken.map((cut) => cut.what);
  const hasFailed = await around.failures(whole, limits.runsPerCut, limits.runsPerCut);
  if (hasFailed < limits.runsPerCut) around.onStep(`as it is: failed ${String(hasFailed)} of ${String(limits.runsPerCut)}, so cuts may be lost to chance`);

  for (let cut = await nextCut(current(), around, limits); cut !== null; cut = await nextCut(current(), around, limits)) {
    taken.push({ ...cut, before: current() });
    around.onStep(`taken: ${cut.what}`);
  }
  // A call, because the compiler takes what it once saw of a property for lasting.
  const isStopped = (): boolean => around.signal.aborted;
  while (!isStopped()) {
    const failed = await around.failures(current(), limits.confirmRuns, limits.confirmFailures);
    if (isStopped()) break;
    around.onStep(`confirmed by ${String(failed)} of ${String(limits.confirmRuns)} runs`);
    if (failed >= limits.confirmFailures) return { kind: 'shrunk', plan: current(), cuts: cuts(), failed };
    const undone = taken.pop();
    if (undone === undefined) return { kind: 'not-reproduced', failed };
    around.onStep(`taken back: ${undone.what}`);
  }
  return { kind: 'stopped', plan: current(), cuts: cuts() };
}

/** The first cut of any dimension, boldest first, that fails every time. */
async function nextCut(plan: ExperimentPlan, around: ShrinkSurroundings, limits: ShrinkLimits): Promise<SmallerPlan | null> {
  for (const dimension of smallerPlans(plan)) {
    for (const smaller of dimension) {
      if (around.signal.aborted) return null;
      const failed = await around.failures(smaller.plan, limits.runsPerCut, limits.runsPerCut);
      around.onStep(`${smaller.what}: ${failed >= limits.runsPerCut ? 'still fails' : 'does not fail every time'}`);
      if (failed >= limits.runsPerCut) return smaller;
    }
  }
  return null;
}
