/** Emits a progress event twice a second from the start of the storm until everything is settled. */
import type { LabEventListener } from '../facts/lab-event.js';
import type { StackDescription } from '../facts/stack-description.js';
import { openDrainProbe } from './drain-clients.js';
import { monoUs } from './host-clock.js';
import { watchStores } from './progress.js';
import type { RunPlan } from './run-plan.js';
import type { StartedLoad } from './start-load.js';
import type { Teardown } from './teardown.js';

const EVERY_MS = 500;

export async function watchProgress(plan: RunPlan, stack: { readonly description: StackDescription }, load: StartedLoad, emit: LabEventListener, teardown: Teardown): Promise<{ stop(): void }> {
  const probe = await openDrainProbe(plan, stack);
  const stores = watchStores(probe);
  const timer = setInterval(() => {
    const latest = load.latest();
    if (latest === null) return;
    emit({ kind: 'progress', progress: { ...latest, ...stores.latest() }, atUs: monoUs() });
  }, EVERY_MS);
  const stop = (): void => {
    clearInterval(timer);
    stores.stop();
  };
  teardown.push('progress watcher', () => {
    stop();
    return probe.close();
  });
  return { stop };
}
