/**
 * How much a gateway takes on at once, and how much of it may reach PostgreSQL. Beyond, the answer is 429 at once: a queue in front of a slow
 * store only makes every answer late.
 */

/** A bounded number of requests in hand. */
export interface Admission {
  /** False when full. Each true needs one `leave`. */
  enter(): boolean;
  leave(): void;
  readonly inFlight: number;
}

export function createAdmission(maxInFlight: number): Admission {
  let inFlight = 0;
  return {
    get inFlight() {
      return inFlight;
    },
    enter() {
      if (inFlight >= maxInFlight) return false;
      inFlight += 1;
      return true;
    },
    leave() {
      inFlight -= 1;
    },
  };
}

/** A bucket that fills at `perSecond` up to `burst`. */
export interface RateLimit {
  /** Takes one, or says that there is none. */
  take(): boolean;
}

/** `nowMs` must not go back: a monotonic clock. */
export function createRateLimit(perSecond: number, burst: number, nowMs: () => number = () => performance.now()): RateLimit {
  let level = burst;
  let filledAtMs = nowMs();
  return {
    take() {
      const now = nowMs();
      level = Math.min(burst, level + ((now - filledAtMs) / 1_000) * perSecond);
      filledAtMs = now;
      if (level < 1) return false;
      level -= 1;
      return true;
    },
  };
}
