/** A role with a sampler beside it; both end together, since a sample in hand may wait for a store that is away. */
import type { RunningRole } from '../role.js';
import type { Sampler } from './sampler.js';

export function withSampler(role: RunningRole, sampler: Sampler): RunningRole {
  return {
    ...role,
    async stop() {
      await Promise.all([sampler.stop(), role.stop()]);
    },
  };
}
