/**
 * freeze-role: SIGSTOP of one role process for a while, then SIGCONT: what a long GC pause, a swap storm or a frozen container does. Its
 * connections stay open and its heartbeats stop (CASES C13).
 *
 * Landed: it was seen stopped at both ends and reached no step in between.
 */
import { z } from 'zod';

import { roleOfInstance } from '../domain/roles.js';
import type { RoleTarget } from '../facts/targets.js';
import { defineFault } from './fault.js';
import { holdsRole } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, instanceOption, startTime } from './option-values.js';

const HEALTHY_BOUND_MS = 15_000;

function allSteps(target: RoleTarget): number {
  return Object.values(target.stepCounts()).reduce((sum, count) => sum + count, 0);
}

export const freezeRole = defineFault({
  name: 'freeze-role',
  description: 'one role process is stopped (SIGSTOP) for s seconds and wakes up as if nothing had happened',
  example: 'freeze-role@role=consumer-1,t=2s,s=3',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(3_000), role: instanceOption }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsRole(options.role, options)],
  predict: (options) => `${options.role} is seen stopped at both ends of the window and reaches no step in between`,
  begin: (options, { targets, clock }) => {
    const target = targets.roles(roleOfInstance(options.role)).find((role) => role.instance === options.role);
    const seenStopped: boolean[] = [];
    let steps = 0;
    return {
      async inject(signal) {
        if (target === undefined) return;
        await target.pause();
        seenStopped.push(await until(clock, 1_000, 5, () => target.isPaused()));
        const before = allSteps(target);
        await clock.wait(options.s, signal);
        seenStopped.push(await target.isPaused());
        steps = allSteps(target) - before;
      },
      async heal() {
        if (target === undefined) return { healed: true, observed: 'nothing was stopped' };
        await target.resume();
        const runs = await until(clock, 1_000, 5, async () => !(await target.isPaused()));
        const healthy = await until(clock, HEALTHY_BOUND_MS, 50, () => target.isHealthy());
        return { healed: runs && healthy, observed: `${options.role} ${runs ? 'runs' : 'is STILL STOPPED'} and is ${healthy ? 'healthy' : 'NOT healthy'}` };
      },
      prove() {
        const landed = seenStopped.length === 2 && seenStopped.every(Boolean) && steps === 0;
        const observed = target === undefined ? `no process ${options.role} runs` : `${options.role} seen stopped at ${String(seenStopped.filter(Boolean).length)} of 2 looks; ${String(steps)} steps in between`;
        return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});
