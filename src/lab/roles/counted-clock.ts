/** The clock of a role under the lab. */
import type { Clock } from '../../domain/clock.js';

/** The wall clock, ahead by `skewMs`, that knows how often it was asked. */
export function countedClock(skewMs: number): Clock & { state(): { readonly nowMs: number; readonly reads: number } } {
  let reads = 0;
  return {
    nowMs() {
      reads += 1;
      return Date.now() + skewMs;
    },
    state: () => ({ nowMs: Date.now() + skewMs, reads }),
  };
}
