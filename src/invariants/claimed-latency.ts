/** The latency that the run claims to promise: the generator's own lateness has to be small against it (DESIGN §6). */
import type { Facts } from '../facts/facts.js';

/** Bound of api-p99 in microseconds; null when the run promises none. */
export function claimedLatencyUs(facts: Facts): number | null {
  const claimed = facts.run.serviceLevels.find((level) => level.name === 'api-p99');
  return claimed === undefined ? null : claimed.bound * 1000;
}
