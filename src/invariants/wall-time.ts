/** Wall time for readers: stores stamp it, the lab's own stamps are converted by the clock pairs of the run. */
import type { ClockFacts } from '../facts/timeline.js';

/** Monotonic microseconds → wall microseconds, by the nearer pair; null for "did not happen". */
export function monoToWallUs(clock: ClockFacts, monoUs: number): number | null {
  if (!Number.isFinite(monoUs)) return null;
  const { atStart, atEnd } = clock;
  const nearer = Math.abs(monoUs - atStart.monoUs) < Math.abs(monoUs - atEnd.monoUs) ? atStart : atEnd;
  return nearer.wallUs + (monoUs - nearer.monoUs);
}

/** Wall microseconds → ISO form with microseconds: many steps of a reservation share a millisecond. */
export function wallOf(wallUs: number): string {
  const ms = Math.floor(wallUs / 1000);
  const rest = Math.floor(wallUs - ms * 1000);
  return new Date(ms).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
