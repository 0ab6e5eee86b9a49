/**
 * Step 7: lets the clients who pay finish, waits for DRAINED, lets every client ask once more, then stops the roles and sees them gone. Nothing moves while facts are read.
 */
import type { StackDescription } from '../facts/stack-description.js';
import type { RunningGenerator } from '../load/generator-client.js';
import { orAborted } from './abort.js';
import type { Settled } from './assemble-facts.js';
import { openDrainProbe } from './drain-clients.js';
import { evidenceOf } from './harvest/harvest.js';
import { monoUs } from './host-clock.js';
import { parseMetrics } from './roles/role-http.js';
import type { RunPlan } from './run-plan.js';
import { waitForDrained } from './settle.js';
import type { RunningSystem } from './start-roles.js';

export async function settleAndQuiesce(
  plan: RunPlan,
  stack: StackDescription,
  system: RunningSystem,
  generator: RunningGenerator,
  stormOverUs: number,
  signal: AbortSignal,
): Promise<Settled> {
  const boundMs = plan.scenario.settleBoundMs;
  const probe = await openDrainProbe(plan, { description: stack });
  try {
    const payersLeft = plan.load.payers === null ? 0 : await orAborted(signal, generator.payersFinished(boundMs));
    // Payers are load: while they act nothing can drain.
    const healedUs = plan.load.payers === null ? stormOverUs : Math.max(stormOverUs, monoUs());
    const drained = await waitForDrained(signal, probe, boundMs);
    const open = payersLeft === 0 ? drained.open : [`${String(payersLeft)} clients not done with paying`, ...drained.open];
    const { gatewayMetrics } = await orAborted(signal, generator.finalPolls());
    // Where the gateway lives in the generator, the role process of that name has seen no arrival.
    const metrics = await evidenceOf(async () => ({ ...(await system.supervisor.scrapeMetrics()), ...(gatewayMetrics === null ? {} : { generator: parseMetrics(gatewayMetrics) }) }));
    await generator.stop();
    const stopped = await system.supervisor.stopAll();
    return {
      settle: { healedUs, drainedUs: open.length === 0 ? drained.drainedUs : null, boundMs, open, quiesced: stopped.problems.length === 0, quiesceProblems: stopped.problems },
      metrics,
    };
  } finally {
    await probe.close();
  }
}
