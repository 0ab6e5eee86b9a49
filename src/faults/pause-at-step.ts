/**
 * pause-at-step: a role process stops itself (SIGSTOP) at exact hits of a protocol step and is woken after a while, as a long collection of garbage or a frozen
 * container does at the worst moment: its leases run out, its session ends, and it goes on as if nothing had happened (CASES C13).
 *
 * Landed: as many step lines as strikes asked; each time the process was seen stopped at both ends of the pause and reached no step in between. With
 * `partner=works` also: another process of the role reached a step while this one stood still, so that what was taken over was really taken over. Which of them comes
 * to the step first is luck: that one is held, and another that comes to it meanwhile goes on.
 */
import { z } from 'zod';

import { roleOfInstance } from '../domain/roles.js';
import { STEPS } from '../domain/steps.js';
import type { RoleTarget, StepHit } from '../facts/targets.js';
import { defineFault } from './fault.js';
import { until } from './observation.js';
import { durationMs, stepOption } from './option-values.js';
import { disarmAll, strikeHits, strikeOptions, strikePlans } from './step-strikes.js';

const STOP_BOUND_MS = 1_000;
const HEALTHY_BOUND_MS = 15_000;

interface Pause {
  readonly target: RoleTarget;
  readonly hit: StepHit;
  proven: boolean;
  /** Steps that others of the role reached meanwhile. */
  partnerSteps: number;
}

export const pauseAtStep = defineFault({
  name: 'pause-at-step',
  description: 'a role process stops at the Nth hit of a protocol step (SIGSTOP), is woken s seconds later and goes on where it was',
  example: 'pause-at-step@step=relay.after-claim,s=4,hit=3',
  schema: z
    .strictObject({ step: stepOption, s: durationMs('s').default(4_000), partner: z.enum(['any', 'works'], { error: 'is works (another process of the role has to take over) or any' }).default('any'), ...strikeOptions })
    .superRefine(({ partner, times, instance }, context) => {
      if (partner === 'works' && (times !== 1 || instance !== 'all')) context.addIssue({ code: 'custom', message: 'partner=works holds the first process that comes by, once: leave times and instance out' });
    }),
  startsAfterMs: () => 0,
  strikesAsked: (options) => options.times,
  predict: (options) => `${String(options.times)} step lines of ${options.step}, each time the process is seen stopped at both ends of the pause and reaches no step in between${options.partner === 'works' ? ', while another of its role does' : ''}`,
  plans: (options, id, instances) => strikePlans(options.partner === 'any' ? options : { ...options, times: instances.filter((instance) => roleOfInstance(instance) === STEPS[options.step].role).length }, 'pause', id, instances),
  begin: (options, { id, targets, clock }) => {
    const pauses: Pause[] = [];
    const { role } = STEPS[options.step];
    const wentOn: StepHit[] = [];
    const waiting = () => strikeHits(targets, options.step, id).filter(({ hit }) => !wentOn.includes(hit) && !pauses.some((pause) => pause.hit === hit));
    const stepsOf = (target: RoleTarget): number => Object.values(target.stepCounts()).reduce((sum, count) => sum + count, 0);
    const stepsOfOthers = (target: RoleTarget): number => targets.roles(role).filter((other) => other.instance !== target.instance).reduce((sum, other) => sum + stepsOf(other), 0);
    const hold = async (target: RoleTarget, hit: StepHit, signal: AbortSignal): Promise<void> => {
      const pause: Pause = { target, hit, proven: false, partnerSteps: 0 };
      pauses.push(pause);
      const stopped = await until(clock, STOP_BOUND_MS, 2, () => target.isPaused());
      const before = stepsOf(target);
      const partnersBefore = stepsOfOthers(target);
      await clock.wait(options.s, signal);
      pause.partnerSteps = stepsOfOthers(target) - partnersBefore;
      pause.proven = stopped && (await target.isPaused()) && stepsOf(target) === before && !signal.aborted && (options.partner === 'any' || pause.partnerSteps > 0);
      await target.resume();
    };
    /** Wakes at once whoever else comes to the step. */
    const letGo = async (signal: AbortSignal): Promise<void> => {
      for (const { target, hit } of waiting()) {
        wentOn.push(hit);
        if (await until(clock, STOP_BOUND_MS, 2, () => target.isPaused(), signal)) await target.resume();
      }
    };
    return {
      async inject(signal) {
        const held: Promise<void>[] = [];
        while (held.length < options.times && !signal.aborted) {
          for (const { target, hit } of waiting().slice(0, options.times - held.length)) held.push(hold(target, hit, signal));
          await clock.wait(10, signal);
        }
        const over = new AbortController();
        const all = Promise.all(held).finally(() => {
          over.abort();
        });
        while (options.partner === 'works' && !over.signal.aborted) {
          await letGo(over.signal);
          await clock.wait(10, over.signal);
        }
        await all;
      },
      async heal() {
        // A stopped process confirms nothing, so all are woken first.
        for (const target of targets.roles(role)) await target.resume();
        await disarmAll(targets, options.step, id);
        const awake = await until(clock, STOP_BOUND_MS, 5, async () => !(await Promise.all(targets.roles(role).map((target) => target.isPaused()))).some(Boolean));
        const healthy = await until(clock, HEALTHY_BOUND_MS, 50, async () => (await Promise.all(targets.roles(role).map((target) => target.isHealthy()))).every(Boolean));
        return { healed: awake && healthy, observed: `plans disarmed; ${String(targets.roles(role).length)} ${role} processes ${awake ? 'run' : 'are NOT all awake'} and are ${healthy ? 'healthy' : 'NOT all healthy'}` };
      },
      prove() {
        const proven = pauses.filter((pause) => pause.proven);
        return Promise.resolve({
          landed: proven.length === options.times,
          observed: `${String(pauses.length)} step lines, ${String(proven.length)} of ${String(options.times)} times seen stopped for ${String(options.s)} ms without a step${options.partner === 'works' ? `; others of the role reached ${pauses.map(({ partnerSteps }) => String(partnerSteps)).join(', ') || 'no'} steps meanwhile` : ''}`,
          strikes: proven.length,
          hits: pauses.map(({ hit }) => hit),
          mayLose: null,
        });
      },
    };
  },
});
