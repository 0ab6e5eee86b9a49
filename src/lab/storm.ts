/** Steps 5 and 6: load and faults side by side, then everything undone, whatever happened in between. */
import type { FaultRecord } from '../facts/fault-record.js';
import type { GeneratorFacts } from '../facts/history.js';
import type { LabEventListener } from '../facts/lab-event.js';
import type { RunningGenerator } from '../load/generator-client.js';
import { orAborted } from './abort.js';
import type { FaultSchedule } from './fault-schedule.js';
import { monoUs } from './host-clock.js';

/** Time between the order to start and the first arrival: the generator and the fault schedule both need to hear of it before. */
const START_DELAY_US = 300_000;
/** A warm generator has few arrivals and hears at once. */
const WARM_START_DELAY_US = 100_000;

export async function blowStorm(signal: AbortSignal, generator: RunningGenerator, startFaults: (stormStartUs: number) => FaultSchedule, isWarm: boolean): Promise<{ facts: GeneratorFacts; faults: FaultSchedule }> {
  const stormStartUs = monoUs() + (isWarm ? WARM_START_DELAY_US : START_DELAY_US);
  const faults = startFaults(stormStartUs);
  generator.start(stormStartUs);
  const facts = await orAborted(signal, generator.stormDone);
  return { facts, faults };
}

export interface Healed {
  readonly records: readonly FaultRecord[];
  /** From here on recovery counts: the later of the last healing and the end of the storm, since nothing can drain while it blows. */
  readonly healedUs: number;
}

export async function healEverything(faults: FaultSchedule, stormEndedUs: number, emit: LabEventListener): Promise<Healed> {
  const records = await faults.healAll();
  for (const record of records) if (!record.healed) emit({ kind: 'note', text: `${record.id} is not proven healed: ${record.healObserved}`, atUs: monoUs() });
  return { records, healedUs: Math.max(stormEndedUs, ...records.map((record) => record.healedUs ?? 0)) };
}
