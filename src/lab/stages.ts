/** Says when each of the nine steps begins and ends, and stops between steps when the run was aborted. */
import type { LabEventListener, StageName } from '../facts/lab-event.js';
import { throwIfAborted } from './abort.js';
import { monoUs } from './host-clock.js';

export type RunStage = <T>(name: StageName, work: () => Promise<T>) => Promise<T>;

export function stagesOf(emit: LabEventListener, signal: AbortSignal): RunStage {
  return async (stage, work) => {
    throwIfAborted(signal);
    emit({ kind: 'stage', stage, state: 'begin', atUs: monoUs() });
    try {
      return await work();
    } finally {
      emit({ kind: 'stage', stage, state: 'end', atUs: monoUs() });
    }
  };
}
