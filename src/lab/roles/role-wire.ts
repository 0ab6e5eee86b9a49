/**
 * What the lab and a role process say to each other: its configuration in the environment, then lines of JSON, lab → role on the role's
 * stdin, role → lab on descriptor 3. Descriptor 4 is the file of step counts (`step-counts.ts`). When stdin ends the lab is gone.
 *
 * A process does nothing until it is told to `start`: a spare one has loaded everything and waits for the death of the other.
 */
import type { StepName } from '../../domain/steps.js';
import type { StepHit, StepPlan } from '../../facts/targets.js';

export const ROLE_CONFIG_VARIABLE = 'SECKILL_ROLE_CONFIG';
export const LINES_DESCRIPTOR = 3;
export const COUNTS_DESCRIPTOR = 4;

/** What a role process is told when it starts. */
export interface RolePlan {
  readonly plans: readonly StepPlan[];
  /** Hits of earlier processes of this instance. */
  readonly hitsSoFar: Readonly<Partial<Record<StepName, number>>>;
  /** Actions of earlier processes of this instance, by plan id. */
  readonly actionsSoFar: Readonly<Record<string, number>>;
  /** Name of a wrong design to run, from `src/mutants`. */
  readonly mutant: string | null;
  /** Added to the wall clock of the role. */
  readonly clockSkewMs: number;
}

export type LineFromRole =
  /** Written right before the action. `cpuUs`: user and system time of this process so far, since a killed process cannot be asked. */
  | { readonly kind: 'step'; readonly hit: StepHit; readonly cpuUs: number }
  | { readonly kind: 'disarmed'; readonly planId: string }
  /** `nowMs`: what its clock says. `reads`: how often the system has asked it. */
  | { readonly kind: 'clock'; readonly nowMs: number; readonly reads: number };

export type LineToRole =
  | { readonly kind: 'start'; readonly plan: RolePlan }
  | { readonly kind: 'disarm'; readonly planId: string }
  | { readonly kind: 'go-on'; readonly planId: string; readonly hit: number }
  | { readonly kind: 'tell-clock' };
