/** Puts what was planned and what was harvested into the one value that judges see. */
import type { Facts, MetricsFacts, SettleFacts } from '../facts/facts.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { Evidence } from '../facts/store-facts.js';
import type { ClockFacts } from '../facts/timeline.js';
import type { HarvestedFacts } from './harvest/harvest.js';
import type { RunPlan } from './run-plan.js';

export interface Settled {
  readonly settle: SettleFacts;
  readonly metrics: Evidence<MetricsFacts>;
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
      admission: null,
      failClosed: { inFlightBoundMs: plan.tuning.reserveTimeoutMs + plan.tuning.sendBudgetMs, breakerOpensWithinMs: null },
      clock,
      invariants: plan.scenario.invariants,
      serviceLevels: plan.scenario.serviceLevels,
    },
    ...harvested,
    faults: { present: true, value: faults },
    settle: { present: true, value: settled.settle },
    metrics: settled.metrics,
  };
}
