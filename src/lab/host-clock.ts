/** The host's clocks. CLOCK_MONOTONIC is one clock for all processes of a host (LIBRARIES §10). */
import type { ClockFacts, ClockPair } from '../facts/timeline.js';

/** CLOCK_MONOTONIC in microseconds. */
export function monoUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/**
 * Both clocks at one moment. Date.now counts whole milliseconds, so this waits (≤ 1 ms) for its next tick: at the edge the reading is exact
 * to the few microseconds that the loop takes. (performance.now plus timeOrigin would miss a wall clock that was slewed since the process began.)
 */
export function readClockPair(): ClockPair {
  const began = Date.now();
  let now = Date.now();
  while (now === began) now = Date.now();
  return { monoUs: monoUs(), wallUs: now * 1000 };
}

/** Converting is as good as the drift between the pairs, the resolution of one reading, and the stores' own rounding to milliseconds. */
export function clockFacts(atStart: ClockPair, atEnd: ClockPair): ClockFacts {
  const driftUs = Math.abs(atEnd.wallUs - atStart.wallUs - (atEnd.monoUs - atStart.monoUs));
  return { atStart, atEnd, boundUs: 2_000 + Math.ceil(driftUs) };
}
