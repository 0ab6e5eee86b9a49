/** Step 3, second half: the role processes, with the step plans of the run's faults handed to them at spawn. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RoleConfig } from '../domain/role-config.js';
import type { RoleInstance } from '../domain/roles.js';
import type { LabEventListener } from '../facts/lab-event.js';
import type { RunStore } from '../facts/run-store.js';
import type { AimedPlan } from '../faults/fault.js';
import { boundFaultsOf, skewsOf } from './bound-faults.js';
import type { UsableStack } from './bring-up-stack.js';
import { hostFaultClock, numberFaults, plansOf, startFaultSchedule, type FaultSchedule } from './fault-schedule.js';
import { createRoleSupervisor, type RoleSupervisor } from './role-supervisor.js';
import type { RolePlace } from './roles/role-home.js';
import type { RunPlan } from './run-plan.js';
import { runTargets } from './run-targets.js';
import type { Teardown } from './teardown.js';
import { restoreRedisPair } from './restore-redis-pair.js';
import { roleConfigs } from './topology.js';

export interface RunningSystem {
  readonly configs: readonly RoleConfig[];
  readonly supervisor: RoleSupervisor;
  /** Every role healthy through its own proxies. */
  untilReady(): Promise<void>;
  startFaults(stormStartUs: number): FaultSchedule;
}

export interface RoleSurroundings {
  readonly store: RunStore;
  readonly emit: LabEventListener;
  readonly abort: AbortController;
  readonly teardown: Teardown;
  /** Where every role lives; null or absent: as the stack's workers or the lab have it. */
  readonly place?: RolePlace;
}

/** Faults that signal roles without a plan at a step; whoever they name, or everyone, has a process alone. */
const SIGNALLING = ['freeze-role', 'slow-consumer', 'restart-everything', 'stop-scanner'] as const;

/** Roles that must not share a process: a fault kills, stops or holds them. */
function rolesOnTheirOwn(plan: RunPlan, plans: readonly AimedPlan[]): ReadonlySet<RoleInstance> {
  if (plan.faults.some((text) => SIGNALLING.some((name) => text.startsWith(name)))) return new Set(plan.instances);
  return new Set(plans.map(({ instance }) => instance));
}

function placeOf(place: RolePlace): { place?: NonNullable<RolePlace> } {
  return place === null ? {} : { place };
}

/** Spawns every role at once and returns while they come up; the caller waits with `untilReady`. */
export function startRoles(plan: RunPlan, stack: UsableStack, { store, emit, abort, teardown, place = null }: RoleSurroundings): RunningSystem {
  const configs = roleConfigs(plan, stack.description, stack.lane);
  const faults = numberFaults(boundFaultsOf(plan.faults));
  const plans = plansOf(faults, plan.instances);
  const skews = skewsOf(plan.faults, plan.instances);
  const supervisor = createRoleSupervisor({
    entry: fileURLToPath(new URL('./role-main.js', import.meta.url)),
    logDirectory: join(store.directory, 'logs'),
    emit,
    registerPid: (pid, instance) => {
      stack.registerPid(pid, instance);
    },
    onUnplannedDeath: (error) => {
      abort.abort(error);
    },
    ...placeOf(place ?? stack.workers?.placeRoles(rolesOnTheirOwn(plan, plans)) ?? null),
  });
  // Undone after the roles have gone; a stack of this run's own ends as it is.
  if (stack.isShared) teardown.push('redis pair', () => restoreRedisPair(stack.handle));
  teardown.push('roles', async () => {
    await supervisor.stopAll();
  });
  const targets = runTargets({ stack: stack.handle, lane: stack.lane, supervisor, namespace: plan.namespace, sku: { activityId: plan.load.activityId, skuId: plan.load.skuId } });
  teardown.push('witness', () => targets.close());
  const starting = supervisor.start(
    configs.map((config) => ({
      config,
      plans: plans.filter((aimed) => aimed.instance === config.instance).map((aimed) => aimed.plan),
      mutant: plan.mutant,
      clockSkewMs: skews.find(({ instance }) => instance === config.instance)?.aheadMs ?? 0,
    })),
  );
  starting.catch(() => undefined);
  return {
    configs,
    supervisor,
    untilReady: () => starting,
    startFaults(stormStartUs) {
      const schedule = startFaultSchedule(faults, targets, { stormStartUs, emit, clock: hostFaultClock });
      teardown.push('faults', async () => {
        await schedule.healAll();
      });
      return schedule;
    },
  };
}
