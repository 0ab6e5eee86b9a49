/** One run of a sweep: a base with its strikes, or without any for counting, as a plan for a lane. */
import { linkName } from '../../domain/roles.js';
import { STEPS, type StepName } from '../../domain/steps.js';
import type { StepCount, SweepCase, SweepStrike } from '../../facts/sweep.js';
import { planRun, type RunPlan } from '../run-plan.js';
import type { SweepBase } from './sweep-bases.js';
import { PAUSE_MS, TAKE_OVER_MS } from './sweep-bases.js';

export function faultOf(strike: SweepStrike): string {
  const { step, action, hit, link, stream, hasPartner } = strike;
  const at = `step=${step},hit=${String(hit)}${hasPartner ? '' : ',instance=1'}`;
  switch (action) {
    case 'kill':
      return `kill-role@${at}`;
    case 'pause':
      return hasPartner ? `pause-at-step@${at},s=${String(TAKE_OVER_MS)}ms,partner=works` : `pause-at-step@${at},s=${String(PAUSE_MS)}ms`;
    case 'cut':
      return `cut-at-step@${at},link=${link ?? linkName(STEPS[step].role, 'postgres')},stream=${stream ?? 'both'}`;
  }
}

export interface SweepRunOptions {
  readonly seed: number;
  readonly mutant: string | null;
  /** The same arrivals come four times as slowly: on a busy host a role may take the whole storm to come back. */
  readonly isSecondAttempt: boolean;
}

const SLOWER = 4;

export function sweepPlan(base: SweepBase, strikes: readonly SweepStrike[], { seed, mutant, isSecondAttempt }: SweepRunOptions): RunPlan {
  const roles = { ...base.scenario.roles };
  for (const { step, hasPartner } of strikes) if (hasPartner) roles[STEPS[step].role] = 2;
  const scenario = { ...base.scenario, roles, faults: [...base.scenario.faults, ...strikes.map(faultOf)] };
  const { ratePerSecond, durationMs } = scenario.load;
  const pace = isSecondAttempt ? { rate: ratePerSecond / SLOWER, duration: durationMs * SLOWER } : {};
  const plan = planRun(scenario, { seed, consumer: 'single', ...pace }, mutant);
  return { ...plan, faultPatienceMs: base.patienceMs + (strikes.some(({ hasPartner }) => hasPartner) ? TAKE_OVER_MS - PAUSE_MS : 0) };
}

/** How much of what one run has reached the next is sure to reach: how work falls into batches differs from run to run. */
const SURE_SHARE = 2 / 3;

/**
 * The same strikes where a run that goes about as the failed attempt must come by: at an earlier hit. What is lost, and that somebody takes over, stays.
 */
export function nearerStrikes(each: SweepCase, reached: Readonly<Partial<Record<StepName, number>>>): SweepStrike[] {
  return each.strikes.map((strike) => {
    const hits = reached[strike.step] ?? strike.hit;
    return { ...strike, hit: Math.max(1, Math.min(strike.hit, Math.floor(hits * SURE_SHARE))) };
  });
}

/** A strike of the second attempt came at another hit than the case asks for. */
export function isNearer(each: SweepCase, strikes: readonly SweepStrike[]): boolean {
  return strikes.some(({ hit }, at) => hit !== each.strikes[at]?.hit);
}

/** The lower of two counts of each step, so that a hit that only one of two runs had is not struck at. */
export function sureCounts(base: string, runs: readonly Readonly<Partial<Record<StepName, number>>>[]): StepCount[] {
  const steps = new Set(runs.flatMap((run) => Object.keys(run) as StepName[]));
  return [...steps].map((step) => ({ base, step, hits: Math.min(...runs.map((run) => run[step] ?? 0)) })).filter(({ hits }) => hits > 0);
}
