/**
 * Time in the facts. Everything the lab stamps is CLOCK_MONOTONIC of the host in microseconds (`monoUs`), the same for all processes
 * (LIBRARIES §10). Stores stamp wall time; clock pairs taken at the start and the end of a run tie the two.
 */
export interface ClockPair {
  readonly monoUs: number;
  /** Microseconds since the Unix epoch. */
  readonly wallUs: number;
}

export interface ClockFacts {
  readonly atStart: ClockPair;
  readonly atEnd: ClockPair;
  /** How far off a conversion may be: drift between the pairs plus the time one reading takes, at least 2,000. */
  readonly boundUs: number;
}

/** Wall microseconds → monotonic microseconds, by the nearer pair. */
export function wallToMonoUs(clock: ClockFacts, wallUs: number): number {
  const byStart = clock.atStart.monoUs + (wallUs - clock.atStart.wallUs);
  const byEnd = clock.atEnd.monoUs + (wallUs - clock.atEnd.wallUs);
  return Math.abs(wallUs - clock.atStart.wallUs) < Math.abs(wallUs - clock.atEnd.wallUs) ? byStart : byEnd;
}
