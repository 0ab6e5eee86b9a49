/**
 * A sweep: counting runs first, then every case on the lanes of one warm stack; each case is a whole run that is judged like any other.
 *
 * A case that proves nothing (its fault did not land, evidence is missing, it could not be carried out) is tried once more, at a hit that the first attempt
 * did reach; then it is reported as it is. Folders of green cases are deleted, those of the rest are kept.
 */
import { closeSync, openSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { STEPS, type StepName } from '../../domain/steps.js';
import type { LabEvent } from '../../facts/lab-event.js';
import type { RunStore } from '../../facts/run-store.js';
import type { StepCount, SweepCase, SweepHead, SweepRow, SweepStore, SweepStrike } from '../../facts/sweep.js';
import type { RunVerdict } from '../../facts/verdict.js';
import { codeDigest } from '../../stack/images/code-digest.js';
import { runOnLanes } from '../cases/lane-scheduler.js';
import { dropWhatIsLeft, needsWholeStack, runCase, type CaseResult } from '../cases/run-case.js';
import type { WarmStack } from '../cases/warm-stack.js';
import { packageRoot } from '../package-root.js';
import { gitState } from '../provenance.js';
import { readStepCounts } from '../roles/step-counts.js';
import type { RunPlan } from '../run-plan.js';
import { BASE_OF_SCENARIO, baseNamed, SWEEP_BASES, type SweepBase } from './sweep-bases.js';
import { pairCases, sampleOf, selectedSteps, sweepCases, type SweepSelection } from './sweep-cases.js';
import { isNearer, nearerStrikes, sureCounts, sweepPlan } from './sweep-run.js';

export interface SweepRequest {
  readonly seed: number;
  readonly mutant: string | null;
  readonly selection: SweepSelection;
  /** Beside the single cases. */
  readonly pairs: number;
  /** A sample of so many single cases; null: all. */
  readonly sample: number | null;
}

export interface SweepSurroundings {
  readonly warm: WarmStack;
  readonly store: SweepStore;
  /** A fresh run folder for a case. */
  openCase(plan: RunPlan, name: string): Promise<RunStore>;
  readonly signal: AbortSignal;
  readonly argv: readonly string[];
  note(text: string): void;
  onRow(row: SweepRow): void;
}

type Reached = Readonly<Partial<Record<StepName, number>>>;

interface Attempt {
  readonly result: CaseResult;
  readonly reached: Reached;
}

async function attempt(around: SweepSurroundings, lane: number, plan: RunPlan, name: string): Promise<Attempt> {
  const store = await around.openCase(plan, name);
  const emit = (event: LabEvent): void => {
    store.appendEvent(event);
  };
  const result = await runCase(around.warm, lane, { plan, store, emit, signal: around.signal, argv: around.argv, options: { seed: plan.seed } });
  const reached = reachedIn(store.directory, plan);
  await dropWhatIsLeft(result, plan, around.warm);
  if (isGreen(result)) await forget(store.directory);
  return { result, reached };
}

/** With the folder of the case, unless an earlier attempt of it has left something to look at. */
async function forget(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await rmdir(dirname(directory)).catch(() => undefined);
}

/** Hits of the first process of each role: the one that strikes are aimed at. */
function reachedIn(directory: string, plan: RunPlan): Reached {
  const reached: Partial<Record<StepName, number>> = {};
  for (const instance of plan.instances.filter((each) => each.endsWith('-1'))) {
    try {
      const file = openSync(join(directory, 'logs', `${instance}.steps`), 'r');
      Object.assign(reached, readStepCounts(file));
      closeSync(file);
    } catch {
      // A run that ended before its roles began has reached nothing.
    }
  }
  return reached;
}

const COUNTING_RUNS = 2;

/**
 * Counts the hits of every step, twice: in the bases that stand for the steps asked for, and in the others where those do not reach all of them. Bases of steps that
 * were still not reached are counted once more. A base whose run is not green is tried again, and then counts for nothing.
 */
export async function countSteps(around: SweepSurroundings, request: SweepRequest): Promise<StepCount[]> {
  const steps = selectedSteps(STEPS, request.selection.steps);
  const standing = new Set(steps.map((step) => BASE_OF_SCENARIO[STEPS[step].scenario]));
  const counts = await countIn(SWEEP_BASES.filter(({ scenario }) => standing.has(scenario.name)), around, request);
  const isMissing = (step: StepName): boolean => !counts.some((count) => count.step === step);
  if (steps.some(isMissing)) counts.push(...(await countIn(SWEEP_BASES.filter(({ scenario }) => !standing.has(scenario.name)), around, request)));
  const again = new Set(steps.filter(isMissing).map((step) => BASE_OF_SCENARIO[STEPS[step].scenario]));
  counts.push(...(await countIn(SWEEP_BASES.filter(({ scenario }) => again.has(scenario.name)), around, request)));
  return counts;
}

async function countIn(bases: readonly SweepBase[], around: SweepSurroundings, request: SweepRequest): Promise<StepCount[]> {
  const runs = new Map<SweepBase, Reached[]>();
  await runOnLanes(bases.flatMap((base) => Array.from({ length: COUNTING_RUNS }, () => base)), {
    lanes: around.warm.lanes,
    signal: around.signal,
    async run(base, lane) {
      const plan = (): RunPlan => sweepPlan(base, [], { seed: request.seed, mutant: null, isSecondAttempt: false });
      let { result, reached } = await attempt(around, lane, plan(), `count ${base.scenario.name}`);
      if (!isGreen(result) && !around.signal.aborted) ({ result, reached } = await attempt(around, lane, plan(), `count ${base.scenario.name}`));
      if (isGreen(result)) runs.set(base, [...(runs.get(base) ?? []), reached]);
      else around.note(`counting in ${base.scenario.name} failed: ${wordsOf(result)} (${result.directory})`);
    },
  });
  return bases.flatMap((base) => sureCounts(base.scenario.name, runs.get(base) ?? []));
}

function isGreen(result: CaseResult): boolean {
  return result.kind === 'judged' && result.verdict.outcome === 'green';
}

function wordsOf(result: CaseResult): string {
  return result.kind === 'judged' ? result.verdict.headline : `${result.error.code}: ${result.error.message}`;
}

/** Counts, and says what is to be done. */
export async function planSweep(around: SweepSurroundings, request: SweepRequest): Promise<SweepHead> {
  const counts = await countSteps(around, request);
  const { cases: all, unreached } = sweepCases(STEPS, counts, BASE_OF_SCENARIO, request.selection);
  const singles = request.sample === null ? all : sampleOf(all, request.sample, request.seed, (step) => STEPS[step].role);
  around.note(`${String(selectedSteps(STEPS, request.selection.steps).length)} steps, ${String(unreached.length)} of them unreached; ${String(singles.length)} of ${String(all.length)} cases, ${String(request.pairs)} pairs`);
  return {
    schemaVersion: 2, startedAt: new Date().toISOString(), seed: request.seed, mutant: request.mutant, lanes: around.warm.lanes, gitSha: gitState().sha, codeDigest: codeDigest(packageRoot()), counts,
    cases: [...singles, ...pairCases(all, request.pairs, request.seed)], unreached,
  };
}

/** Runs the cases of the head that have no row yet. Resolves with the rows made now; those that were not begun when the signal was raised have none. */
export async function runSweepCases(around: SweepSurroundings, head: SweepHead, done: ReadonlySet<string>): Promise<readonly SweepRow[]> {
  const rows: SweepRow[] = [];
  const planOf = (each: SweepCase, strikes: readonly SweepStrike[], isSecondAttempt: boolean): RunPlan => sweepPlan(baseNamed(each.base), strikes, { seed: head.seed, mutant: head.mutant, isSecondAttempt });
  await runOnLanes(head.cases.filter(({ id }) => !done.has(id)), {
    lanes: around.warm.lanes,
    signal: around.signal,
    needsWholeStack: (each) => needsWholeStack(planOf(each, each.strikes, false)),
    async run(each, lane) {
      const first = await attempt(around, lane, planOf(each, each.strikes, false), each.id);
      if (isConclusive(first.result) || around.signal.aborted) return rowOf(each, each.strikes, first.result, null);
      const nearer = nearerStrikes(each, first.reached);
      const second = await attempt(around, lane, planOf(each, nearer, true), each.id);
      return rowOf(each, nearer, second.result, first.result);
    },
    onResult(_each, row) {
      // What Ctrl-C broke off is done again by the next resume.
      if (around.signal.aborted && row.outcome === 'failed') return;
      rows.push(row);
      around.store.appendRow(row);
      around.onRow(row);
    },
  });
  return rows;
}

function isConclusive(result: CaseResult): boolean {
  return result.kind === 'judged' && (result.verdict.outcome === 'green' || result.verdict.outcome === 'violated' || result.verdict.outcome === 'service-level-missed');
}

function rowOf(each: SweepCase, strikes: readonly SweepStrike[], result: CaseResult, before: CaseResult | null): SweepRow {
  const { id, base } = each;
  return {
    id, base, strikes,
    isNearer: isNearer(each, strikes),
    outcome: result.kind === 'judged' ? result.verdict.outcome : 'failed',
    headline: wordsOf(result),
    recoveryMs: result.kind === 'judged' ? recoveryOf(result.verdict) : null,
    tookMs: result.tookMs + (before?.tookMs ?? 0),
    attempts: before === null ? 1 : 2,
    firstAttempt: before === null ? null : wordsOf(before),
    directory: isGreen(result) ? null : result.directory,
  };
}

/** From the first strike to the moment from which on everything was drained. */
function recoveryOf({ faults, figures, load }: RunVerdict): number | null {
  const strikes = faults.flatMap(({ hits }) => hits.map(({ monoUs }) => monoUs));
  if (figures.recoveryMs === null || strikes.length === 0) return null;
  const settledFromUs = Math.max(load.generator?.endedUs ?? 0, ...faults.map(({ healedUs }) => healedUs ?? 0));
  return Math.max(0, Math.round(figures.recoveryMs + (settledFromUs - Math.min(...strikes)) / 1000));
}
