/** One run of a sweep: a base with its strikes, or without any for counting, as a plan for a lane. */
import { linkName } from '../../domain/roles.js';
import { STEPS, type StepName } from '../../domain/steps.js';
import type { StepCount, SweepCase, SweepStrike } from '../../facts/sweep.js';
import { callAfterStep } from '../../faults/call-after-step.js';
import { planRun, type RunPlan } from '../run-plan.js';
import type { SweepBase } from './sweep-bases.js';
import { PAUSE_MS } from './sweep-bases.js';

/** What kind of cut: the answer of the next call, its request, or the connection between two calls, in turn over the hits. */
const STREAM_OF = { first: 'downstream', middle: 'upstream', last: 'both' } as const;

/** `cutsAtOnce`: a cut does not wait for a call that may never follow. */
export function faultOf(strike: SweepStrike, cutsAtOnce: boolean): string {
  const { step, action, when, hit, link } = strike;
  const at = `step=${step},hit=${String(hit)},instance=1`;
  switch (action) {
    case 'kill':
      return `kill-role@${at}`;
    case 'pause':
      return `pause-at-step@${at},s=${String(PAUSE_MS)}ms`;
    case 'cut': {
      const over = link ?? linkName(STEPS[step].role, 'postgres');
      return `cut-at-step@${at},link=${over},stream=${cutsAtOnce || callAfterStep(step, over) === null ? 'both' : STREAM_OF[when]}`;
    }
  }
}

export interface SweepRunOptions {
  readonly seed: number;
  readonly mutant: string | null;
  /** A cut does not wait for a call that may never follow, and the same arrivals come four times as slowly: on a busy host a role may take the whole storm to come back. */
  readonly isSecondAttempt: boolean;
}

const SLOWER = 4;

export function sweepPlan(base: SweepBase, strikes: readonly SweepStrike[], { seed, mutant, isSecondAttempt }: SweepRunOptions): RunPlan {
  const roles = { ...base.scenario.roles };
  for (const { step, hasPartner } of strikes) if (hasPartner) roles[STEPS[step].role] = 2;
  const scenario = { ...base.scenario, roles, faults: [...base.scenario.faults, ...strikes.map((strike) => faultOf(strike, isSecondAttempt))] };
  const { ratePerSecond, durationMs } = scenario.load;
  const pace = isSecondAttempt ? { rate: ratePerSecond / SLOWER, duration: durationMs * SLOWER } : {};
  const plan = planRun(scenario, { seed, consumer: 'single', ...pace }, mutant);
  return { ...plan, faultPatienceMs: base.patienceMs };
}

/** How much of what one run has reached the next is sure to reach: how work falls into batches differs from run to run. */
const SURE_SHARE = 2 / 3;

/** The same strikes where a run that goes about as the failed attempt must come by, and without partners that may have got there first. */
export function nearerStrikes(each: SweepCase, reached: Readonly<Partial<Record<StepName, number>>>): SweepStrike[] {
  return each.strikes.map((strike) => ({ ...strike, hit: Math.max(1, Math.min(strike.hit, Math.floor((reached[strike.step] ?? strike.hit) * SURE_SHARE))), hasPartner: false }));
}

/** The lower of two counts of each step, so that a hit that only one of two runs had is not struck at. */
export function sureCounts(base: string, runs: readonly Readonly<Partial<Record<StepName, number>>>[]): StepCount[] {
  const steps = new Set(runs.flatMap((run) => Object.keys(run) as StepName[]));
  return [...steps].map((step) => ({ base, step, hits: Math.min(...runs.map((run) => run[step] ?? 0)) })).filter(({ hits }) => hits > 0);
}
