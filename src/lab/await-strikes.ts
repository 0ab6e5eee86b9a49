/**
 * Between storm and healing: waits for faults that strike at steps. A step may come by as long as there is work, so the wait ends when every fault has run its
 * course, or when everything has been drained for a while and so nothing comes any more. A run without strikes is waited for in the same way: what it is counted for
 * may come when all that is open has been done, such as the end of an unpaid order.
 */
import type { StackDescription } from '../facts/stack-description.js';
import { orAborted } from './abort.js';
import { boundFaultsOf } from './bound-faults.js';
import { openDrainProbe } from './drain-clients.js';
import { openWork } from './drained.js';
import { numberFaults, plansOf, type FaultSchedule } from './fault-schedule.js';
import type { RunPlan } from './run-plan.js';

const LOOK_EVERY_MS = 150;
/** A system that never drains is the judges' business. */
const BOUND_MS = 30_000;

/** Some fault of the run waits for a step to come by. */
export function strikesAtSteps({ faults, instances }: Pick<RunPlan, 'faults' | 'instances'>): boolean {
  return plansOf(numberFaults(boundFaultsOf(faults)), instances).length > 0;
}

/** Does nothing in a run without patience. */
export async function awaitStrikes(plan: RunPlan, stack: { readonly description: StackDescription }, faults: FaultSchedule, signal: AbortSignal): Promise<void> {
  if (plan.faultPatienceMs === 0) return;
  const endsByStrikes = strikesAtSteps(plan);
  let done = false;
  void faults.done.then(() => (done = true));
  const probe = await orAborted(signal, openDrainProbe(plan, stack));
  try {
    const deadline = performance.now() + BOUND_MS;
    let idleSince: number | null = null;
    while (performance.now() < deadline) {
      const open = await orAborted(signal, openWork(probe));
      if (endsByStrikes && isDone()) return;
      const now = performance.now();
      idleSince = open.length > 0 ? null : (idleSince ?? now);
      if (idleSince !== null && now - idleSince >= plan.faultPatienceMs) return;
      await orAborted(signal, new Promise<void>((resolve) => setTimeout(resolve, LOOK_EVERY_MS)));
    }
  } finally {
    await probe.close();
  }

  /** A call, because the compiler takes what it once saw of a variable for lasting. */
  function isDone(): boolean {
    return done;
  }
}
