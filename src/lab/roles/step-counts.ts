/**
 * How often each step was reached, kept where a SIGKILL cannot take it: a file of one float64 per step, opened by the lab and inherited by
 * every process of the instance. A `pwrite` (about 3 µs) is in the kernel's page cache when it returns, and the page cache outlives the
 * process; only the death of the machine would lose it. Steps that a plan watches are written at every hit, before the action: exact. All
 * others are written together at most every 2 ms, so that a busy gateway does not pay a system call a step.
 */
import { readSync, writeSync } from 'node:fs';

import { STEP_NAMES, type StepName } from '../../domain/steps.js';

const BYTES_PER_COUNT = 8;
const FLUSH_EVERY_MS = 2;

/** The counts as a reader outside of the process sees them. */
export function readStepCounts(descriptor: number): Partial<Record<StepName, number>> {
  const bytes = new Float64Array(STEP_NAMES.length);
  readSync(descriptor, bytes, 0, bytes.byteLength, 0);
  return Object.fromEntries(STEP_NAMES.map((name, index) => [name, bytes[index] ?? 0]).filter(([, count]) => (count as number) > 0)) as Partial<Record<StepName, number>>;
}

export interface StepCounter {
  /** Adds one and returns the total over all processes of the instance. */
  count(step: StepName): number;
  /** Writes what is not written yet. */
  flush(): void;
}

export function createStepCounter(descriptor: number, watched: ReadonlySet<StepName>, soFar: Readonly<Partial<Record<StepName, number>>>): StepCounter {
  const totals = new Float64Array(STEP_NAMES.map((name) => soFar[name] ?? 0));
  const places = new Map(STEP_NAMES.map((name, index) => [name, index]));
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writeSync(descriptor, totals, 0, totals.byteLength, 0);
  };
  return {
    count(step) {
      const place = places.get(step) ?? 0;
      const total = (totals[place] ?? 0) + 1;
      totals[place] = total;
      if (watched.has(step)) writeSync(descriptor, totals, place * BYTES_PER_COUNT, BYTES_PER_COUNT, place * BYTES_PER_COUNT);
      else timer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
      return total;
    },
    flush,
  };
}
