/** Puts what was planned and what was harvested into the one value that judges see. */
import type { RoleTuning } from '../domain/role-config.js';
import { roleOfInstance } from '../domain/roles.js';
import type { AdmissionFacts, Facts, MetricsFacts, RunFacts, SettleFacts } from '../facts/facts.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { Evidence } from '../facts/store-facts.js';
import type { ClockFacts } from '../facts/timeline.js';
import { judgesOfRun } from '../scenarios/judges-of-run.js';
import { skewsOf } from './bound-faults.js';
import type { HarvestedFacts } from './harvest/harvest.js';
import type { RunPlan } from './run-plan.js';

export interface Settled {
  readonly settle: SettleFacts;
  readonly metrics: Evidence<MetricsFacts>;
}

/** What was let in before the gateway looked may still be on its way to Redis for a reserve call's time. */
function admissionOf({ funnel, reserveTimeoutMs }: RoleTuning): AdmissionFacts | null {
  if (!funnel.layers['admission-limit']) return null;
  return { maxOldestAgeMs: funnel.admission.closeAtAgeMs + reserveTimeoutMs, controlPeriodMs: funnel.admission.periodMs };
}

/** At worst the sends whose failure opens it follow one after the other, each with its whole budget. */
function breakerBoundMs({ funnel, sendBudgetMs }: RoleTuning): number | null {
  return funnel.layers.breaker ? (funnel.breaker.failures + 1) * sendBudgetMs : null;
}

/** Topics that are kept for ever keep the Inbox for ever. */
function inboxRetentionOf({ instances, tuning }: RunPlan): number | null {
  return tuning.logRetentionMs !== null && instances.some((instance) => roleOfInstance(instance) === 'retention') ? tuning.inboxRetentionMs : null;
}

/** A process with a wrong clock makes a difference to what the others of its role stamp, so they are told along with it. */
function skewedRolesOf(plan: RunPlan): RunFacts['clockSkews'] {
  const skews = skewsOf(plan.faults, plan.instances);
  const roles = new Set(skews.map(({ instance }) => roleOfInstance(instance)));
  return plan.instances.filter((instance) => roles.has(roleOfInstance(instance))).map((instance) => ({ instance, aheadMs: skews.find((skew) => skew.instance === instance)?.aheadMs ?? 0 }));
}

export function assembleFacts(plan: RunPlan, harvested: HarvestedFacts, clock: ClockFacts, faults: readonly FaultRecord[], settled: Settled): Facts {
  return {
    run: {
      scenario: plan.scenario.name,
      namespace: plan.namespace,
      load: plan.load,
      stock: plan.stock,
      strategies: plan.strategies,
      rules: plan.rules,
      admission: admissionOf(plan.tuning),
      failClosed: { inFlightBoundMs: plan.tuning.reserveTimeoutMs + plan.tuning.sendBudgetMs, breakerOpensWithinMs: breakerBoundMs(plan.tuning) },
      waitingRoom: plan.tuning.funnel.layers['waiting-room'] ? { seed: plan.tuning.funnel.waitingRoom.seed, places: plan.tuning.funnel.waitingRoom.places } : null,
      inboxRetentionMs: inboxRetentionOf(plan),
      clock,
      clockSkews: skewedRolesOf(plan),
      invariants: judgesOfRun(plan.scenario.invariants, plan.faults, plan.tuning.funnel),
      serviceLevels: plan.scenario.serviceLevels,
      shows: plan.shows,
    },
    ...harvested,
    faults: { present: true, value: faults },
    settle: { present: true, value: settled.settle },
    metrics: settled.metrics,
  };
}
