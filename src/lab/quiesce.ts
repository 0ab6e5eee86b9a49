/**
 * Step 7: waits for DRAINED, lets every client ask once more, then stops the roles and sees them gone. Nothing moves while facts are read.
 */
import type { StackDescription } from '../facts/stack-description.js';
import type { RunningGenerator } from '../load/generator-client.js';
import { orAborted } from './abort.js';
import type { Settled } from './assemble-facts.js';
import { openDrainProbe } from './drain-clients.js';
import { evidenceOf } from './harvest/harvest.js';
import type { RunPlan } from './run-plan.js';
import { waitForDrained } from './settle.js';
import type { RunningSystem } from './start-roles.js';

export async function settleAndQuiesce(
  plan: RunPlan,
  stack: StackDescription,
  system: RunningSystem,
  generator: RunningGenerator,
  healedUs: number,
  signal: AbortSignal,
): Promise<Settled> {
  const boundMs = plan.scenario.settleBoundMs;
  const probe = await openDrainProbe(plan, stack);
  try {
    const drained = await waitForDrained(signal, probe, boundMs);
    await orAborted(signal, generator.finalPolls());
    const metrics = await evidenceOf(() => system.supervisor.scrapeMetrics());
    await generator.stop();
    const stopped = await system.supervisor.stopAll();
    return {
      settle: { healedUs, drainedUs: drained.drainedUs, boundMs, open: drained.open, quiesced: stopped.problems.length === 0, quiesceProblems: stopped.problems },
      metrics,
    };
  } finally {
    await probe.close();
  }
}
