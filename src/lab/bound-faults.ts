/** The faults of a plan with their options checked, and what the rest of the lab has to know of them before they begin. */
import type { RoleInstance } from '../domain/roles.js';
import { LabError } from '../facts/lab-error.js';
import type { AimedSkew, BoundFault, StackNeed } from '../faults/fault.js';
import { parseFaultOption } from '../faults/registry.js';

/** A malformed one was refused with the options already; here it is a bug of a scenario. LabError USAGE. */
export function boundFaultsOf(texts: readonly string[]): readonly BoundFault[] {
  return texts.map((text) => {
    const parsed = parseFaultOption(text);
    if (!parsed.ok) throw new LabError('USAGE', `fault ${text}: ${parsed.problems.join('; ')}`, 'see `seckill-lab list`');
    return parsed.fault;
  });
}

/** What the stack has to be started with. */
export function stackNeedsOf(texts: readonly string[]): readonly StackNeed[] {
  return [...new Set(boundFaultsOf(texts).flatMap(({ needs }) => needs))];
}

/** How far each process's clock is ahead, faults added up; only those that are off. */
export function skewsOf(texts: readonly string[], instances: readonly RoleInstance[]): readonly AimedSkew[] {
  const aimed = boundFaultsOf(texts).flatMap((fault) => fault.skews(instances));
  return instances.flatMap((instance) => {
    const aheadMs = aimed.filter((skew) => skew.instance === instance).reduce((sum, skew) => sum + skew.aheadMs, 0);
    return aheadMs === 0 ? [] : [{ instance, aheadMs }];
  });
}
