/** The clock of a role: wall time, so that a skewed role can be made by handing it another clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
