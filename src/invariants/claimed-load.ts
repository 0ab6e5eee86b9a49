/**
 * Whether the load was the one that the run claims: the generator's own lateness has to be small against the latency that is promised (DESIGN §6), and against
 * what the load allows where it says so.
 */
import type { Facts } from '../facts/facts.js';
import { judgeLoad } from '../facts/load-honesty.js';
import type { LoadVerdict } from '../facts/verdict.js';

export function claimedLoad(facts: Facts): LoadVerdict {
  const { serviceLevels, load: { latenessBoundMs } } = facts.run;
  const promised = serviceLevels.find((level) => level.name === 'api-p99');
  return judgeLoad(
    facts.history.present ? facts.history.value.generator : null,
    promised === undefined ? null : promised.bound * 1000,
    latenessBoundMs === undefined ? null : latenessBoundMs * 1000,
  );
}
