/**
 * Which judges a run needs besides those that its scenario names: whoever adds a fault on the command line, or switches a layer of the funnel on, asks a
 * question that a judge exists for, and a run that does not ask it would be green for want of looking.
 */
import type { FunnelTuning } from '../domain/funnel.js';
import { STORE_OF_FAULT } from '../invariants/outages.js';

/** `faults`: options as on the command line. In the order of the scenario, what is added last. */
export function judgesOfRun(named: readonly string[], faults: readonly string[], { layers }: Pick<FunnelTuning, 'layers'>): readonly string[] {
  const stores = new Set(faults.map((option) => STORE_OF_FAULT[option.split('@', 1)[0] ?? '']));
  const judges = new Set(named);
  // Without a breaker nothing promises that the door shuts when the broker goes: reservations wait for it.
  if (stores.has('redis') || (stores.has('kafka') && layers.breaker)) judges.add('fail-closed');
  if (layers['admission-limit']) judges.add('admission-bounded');
  if (layers.permit) judges.add('permit-once');
  if (layers['waiting-room']) judges.add('lottery-kept');
  return [...judges];
}
