/** The host's clocks. CLOCK_MONOTONIC is one clock for all processes of a host (LIBRARIES §10). */
import type { ClockFacts, ClockPair } from '../facts/timeline.js';

/** CLOCK_MONOTONIC in microseconds. */
export function monoUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Both clocks at one moment; the wall clock is read between two monotonic readings, and their middle is taken. */
export function readClockPair(): ClockPair {
  const before = monoUs();
  const wallUs = Math.round((performance.timeOrigin + performance.now()) * 1000);
  const after = monoUs();
  // performance.now follows the monotonic clock from process start, so a stepped wall clock would go unseen: Date.now has the last word.
  const dateUs = Date.now() * 1000;
  return { monoUs: Math.round((before + after) / 2), wallUs: Math.abs(dateUs - wallUs) > 5_000 ? dateUs : wallUs };
}

/** Converting is as good as the drift between the pairs, the resolution of one reading, and the stores' own rounding to milliseconds. */
export function clockFacts(atStart: ClockPair, atEnd: ClockPair): ClockFacts {
  const driftUs = Math.abs(atEnd.wallUs - atStart.wallUs - (atEnd.monoUs - atStart.monoUs));
  return { atStart, atEnd, boundUs: 2_000 + Math.ceil(driftUs) };
}
