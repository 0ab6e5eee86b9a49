/**
 * How long the relay waits. The values keep two promises: a broker outage of minutes makes no event DEAD, and a healed broker is noticed
 * within two seconds. 600 tries (`event_outbox.max_retry`) at no less than one second each, once the bound is reached, are ten minutes of an outage
 * in which the very same event is tried without a break; a page of 500 shares those tries with all others, so with a backlog it is longer.
 */

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;

/** Delay before try `retryCount + 2` of an event: doubling to two seconds, half of it fixed and half at random (0 ≤ `random` < 1). */
export function retryDelayMs(retryCount: number, random: number): number {
  const fullMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(retryCount, 10), LONGEST_DELAY_MS);
  return Math.round(fullMs / 2 + (fullMs / 2) * random);
}

/** The relay's own pause after a round. */
export interface Pace {
  /** Something was sent: go on at once, there may be more. */
  worked(): number;
  /** Nothing was due: the interval, growing to eight times as long while there is nothing. */
  idle(): number;
  /** PostgreSQL or the whole page failed: 100 ms growing to one second. */
  failed(): number;
}

export function createPace(intervalMs: number): Pace {
  let idleMs = intervalMs;
  let failedMs = FIRST_DELAY_MS;
  return {
    worked() {
      idleMs = intervalMs;
      failedMs = FIRST_DELAY_MS;
      return 0;
    },
    idle() {
      const pauseMs = idleMs;
      idleMs = Math.min(idleMs * 2, intervalMs * 8);
      failedMs = FIRST_DELAY_MS;
      return pauseMs;
    },
    failed() {
      const pauseMs = failedMs;
      failedMs = Math.min(failedMs * 2, 1_000);
      return pauseMs;
    },
  };
}
