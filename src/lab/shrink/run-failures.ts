/** How often a plan fails as a given run did: real runs on the lanes of one warm stack, each judged, and counted only when the same invariant is violated. */
import type { ExperimentPlan } from '../../facts/experiment-plan.js';
import { LabError } from '../../facts/lab-error.js';
import type { RunStore } from '../../facts/run-store.js';
import { runOnLanes } from '../cases/lane-scheduler.js';
import { dropWhatIsLeft, needsWholeStack, runCase, type CaseResult } from '../cases/run-case.js';
import type { WarmStack } from '../cases/warm-stack.js';
import { rawOptionsOf, runNamed } from '../plan-file.js';
import { parseRunOptions } from '../run-options.js';
import { planRun, type RunPlan } from '../run-plan.js';

export interface FailureSearch {
  readonly warm: WarmStack;
  /** Any one of these has to be violated. */
  readonly invariants: readonly string[];
  readonly signal: AbortSignal;
  readonly argv: readonly string[];
  openFolder(plan: RunPlan): Promise<RunStore>;
  onRun(text: string): void;
}

/** A run's plan of a plan file's value. Throws `LabError` USAGE when it is of another version of the lab. */
export function runPlanOf(plan: ExperimentPlan): RunPlan {
  const scenario = runNamed(plan.scenario);
  if (scenario === null) throw new LabError('USAGE', `there is no scenario ${JSON.stringify(plan.scenario)} in this version`, 'shrink it with the version that ran it');
  return planRun({ ...scenario, faults: plan.faults ?? scenario.faults }, parseRunOptions(rawOptionsOf(plan)), plan.mutant ?? null);
}

function failsAlike(result: CaseResult, invariants: readonly string[]): boolean {
  return result.kind === 'judged' && result.verdict.invariants.some((judge) => judge.outcome === 'violated' && invariants.includes(judge.name));
}

/** Counts failures over `runs` runs. Stops as soon as `enough` of them can no longer be reached. */
export async function countFailures(search: FailureSearch, plan: ExperimentPlan, runs: number, enough: number): Promise<number> {
  const stop = new AbortController();
  const onAbort = (): void => {
    stop.abort(search.signal.reason);
  };
  if (search.signal.aborted) onAbort();
  search.signal.addEventListener('abort', onAbort, { once: true });
  let failed = 0;
  let passed = 0;
  const plans = Array.from({ length: runs }, () => runPlanOf(plan));
  try {
    await runOnLanes<RunPlan, CaseResult>(plans, {
      lanes: search.warm.lanes,
      signal: stop.signal,
      needsWholeStack,
      async run(runPlan, lane) {
        const store = await search.openFolder(runPlan);
        const result = await runCase(search.warm, lane, {
          plan: runPlan, store, argv: search.argv, signal: search.signal, options: parseRunOptions(rawOptionsOf(plan)),
          emit: (event) => {
            store.appendEvent(event);
          },
        });
        await dropWhatIsLeft(result, runPlan, search.warm);
        return result;
      },
      onResult(runPlan, result) {
        if (failsAlike(result, search.invariants)) failed += 1;
        else passed += 1;
        search.onRun(`  run ${runPlan.runId}: ${result.kind === 'judged' ? result.verdict.headline : result.error.message}`);
        if (runs - passed < enough) stop.abort();
      },
    });
  } finally {
    search.signal.removeEventListener('abort', onAbort);
  }
  return failed;
}
