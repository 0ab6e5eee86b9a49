/**
 * The lab's observer inside a role process: counts the steps and strikes at exactly the planned hits (DESIGN §4, Arming).
 *
 * The line goes out with a synchronous write before the action. `kill` and `pause` are signals to this very process: the kernel delivers
 * them on the way back from the system call, so nothing of the role runs after them.
 */
import type { RoleInstance } from '../domain/roles.js';
import type { StepName, StepObserver } from '../domain/steps.js';
import type { StepHit, StepPlan } from '../facts/targets.js';
import { monoUs } from './host-clock.js';
import type { LineFromRole, LineToRole, RolePlan } from './roles/role-wire.js';
import type { StepCounter } from './roles/step-counts.js';

export interface StepPlanObserver extends StepObserver {
  /** Handles a line of the lab. */
  told(line: Exclude<LineToRole, { kind: 'start' | 'tell-clock' }>): void;
}

export interface ObserverSurroundings {
  readonly instance: RoleInstance;
  readonly counter: StepCounter;
  /** Synchronous. */
  readonly writeLine: (line: LineFromRole) => void;
  /** Sends a signal to this process. Synchronous; SIGKILL does not return. */
  readonly signalSelf: (signal: 'SIGKILL' | 'SIGSTOP') => void;
}

export function createStepPlanObserver(plan: Pick<RolePlan, 'plans' | 'actionsSoFar'>, surroundings: ObserverSurroundings): StepPlanObserver {
  const { instance, counter, writeLine, signalSelf } = surroundings;
  const armed = new Map<string, { readonly plan: StepPlan; done: number }>(plan.plans.map((each) => [each.id, { plan: each, done: plan.actionsSoFar[each.id] ?? 0 }]));
  const waiting = new Map<string, () => void>();

  const strikeDue = (step: StepName, hit: number) =>
    [...armed.values()].find(({ plan: due, done }) => due.step === step && done < due.times && hit >= due.firstHit && (hit - due.firstHit) % due.everyHits === 0);

  return {
    reached(step, ids) {
      const total = counter.count(step);
      if (armed.size === 0) return;
      const due = strikeDue(step, total);
      if (due === undefined) return;
      due.done += 1;
      const hit: StepHit = { instance, step, hit: total, ids, monoUs: monoUs(), action: due.plan.action, planId: due.plan.id };
      const { user, system } = process.cpuUsage();
      writeLine({ kind: 'step', hit, cpuUs: user + system });
      switch (due.plan.action) {
        case 'kill':
          signalSelf('SIGKILL');
          return;
        case 'pause':
          signalSelf('SIGSTOP');
          return;
        case 'cut':
          return new Promise((resolve) => waiting.set(cutKey(due.plan.id, total), resolve));
      }
    },
    told(line) {
      if (line.kind === 'go-on') {
        const key = cutKey(line.planId, line.hit);
        waiting.get(key)?.();
        waiting.delete(key);
        return;
      }
      armed.delete(line.planId);
      for (const [key, resolve] of waiting) {
        if (!key.startsWith(`${line.planId} `)) continue;
        waiting.delete(key);
        resolve();
      }
      writeLine({ kind: 'disarmed', planId: line.planId });
    },
  };
}

function cutKey(planId: string, hit: number): string {
  return `${planId} ${String(hit)}`;
}
