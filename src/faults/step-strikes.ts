/**
 * Plans for faults that strike at a protocol step (DESIGN §4, Arming): made before the processes start, counted inside them.
 */
import { z } from 'zod';

import { roleOfInstance, type RoleInstance } from '../domain/roles.js';
import { STEPS, type StepName } from '../domain/steps.js';
import type { RoleTarget, StepAction, StepHit, Targets } from '../facts/targets.js';
import type { AimedPlan } from './fault.js';
import { wholeNumber } from './option-values.js';

/** `hit`: the first hit to strike at, default `every`. `times`: strikes in all, shared out evenly among the role's processes. */
export const strikeOptions = {
  hit: wholeNumber(1, 1_000_000).optional(),
  every: wholeNumber(1, 1_000_000).default(1),
  times: wholeNumber(1, 10_000).default(1),
  instance: z.string().regex(/^(all|[1-9][0-9]?)$/, 'is all or the number of a role process').default('all'),
};

export interface StrikeOptions {
  readonly step: StepName;
  readonly hit?: number | undefined;
  readonly every: number;
  readonly times: number;
  readonly instance: string;
}

function planId(faultId: string, instance: RoleInstance): string {
  return `${faultId}@${instance}`;
}

export function strikePlans(options: StrikeOptions, action: StepAction, faultId: string, instances: readonly RoleInstance[]): readonly AimedPlan[] {
  const { role } = STEPS[options.step];
  const aimed = instances.filter((instance) => roleOfInstance(instance) === role && (options.instance === 'all' || instance === `${role}-${options.instance}`));
  return aimed.flatMap((instance, index) => {
    const times = Math.floor(options.times / aimed.length) + (index < options.times % aimed.length ? 1 : 0);
    if (times === 0) return [];
    return [{ instance, plan: { id: planId(faultId, instance), step: options.step, action, firstHit: options.hit ?? options.every, everyHits: options.every, times } }];
  });
}

/** Step lines of this fault so far, with the process each came from. */
export function strikeHits(targets: Targets, step: StepName, faultId: string): readonly { readonly target: RoleTarget; readonly hit: StepHit }[] {
  return targets
    .roles(STEPS[step].role)
    .flatMap((target) => target.actionHits().filter((hit) => hit.planId === planId(faultId, target.instance)).map((hit) => ({ target, hit })));
}

/** Takes the fault's plans out of every process of the role. */
export async function disarmAll(targets: Targets, step: StepName, faultId: string): Promise<void> {
  await Promise.all(targets.roles(STEPS[step].role).map((target) => target.disarm(planId(faultId, target.instance))));
}
