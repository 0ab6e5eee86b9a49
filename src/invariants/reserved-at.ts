/**
 * When a reservation was made. The gateway stamps it with its own clock, which a fault may have put off; where the gateways' clocks differ nobody can say
 * which of them it was, so the answer is a range, and a judge may condemn only what is wrong at both ends of it.
 */
import type { Facts } from '../facts/facts.js';

export interface ReservedAt {
  /** Wall milliseconds of the host. */
  readonly earliestMs: number;
  readonly latestMs: number;
}

export function reservedAt(facts: Facts, stampedMs: number): ReservedAt {
  const ahead = facts.run.clockSkews.filter(({ instance }) => instance.startsWith('gateway-')).map(({ aheadMs }) => aheadMs);
  if (ahead.length === 0) return { earliestMs: stampedMs, latestMs: stampedMs };
  return { earliestMs: stampedMs - Math.max(...ahead), latestMs: stampedMs - Math.min(...ahead) };
}
