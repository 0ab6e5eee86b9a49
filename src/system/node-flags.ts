/** Flags that Node is to be started with for a role. */
import type { RoleConfig } from '../domain/role-config.js';

/**
 * Room for what lives longer, so that the winners of a sale do not set off a collection of the whole heap just when everything is sold: with the usual beginning its marking took
 * a quarter of the first 0.3 s.
 */
const OLD_SPACE = '--initial-old-space-size=256';

/**
 * A larger young generation is for a sale that is over in a moment: all that is made is still waited for then, and every collection copies it. Elsewhere it costs, since its
 * memory is new to the processor's caches all the time: a single request a fifth more (docs/decisions/0025).
 */
export function nodeFlagsOf({ role, tuning: { youngGenerationMb } }: Pick<RoleConfig, 'role' | 'tuning'>): readonly string[] {
  if (role !== 'gateway') return [];
  return youngGenerationMb === null ? [OLD_SPACE] : [OLD_SPACE, `--min-semi-space-size=${String(youngGenerationMb)}`, `--max-semi-space-size=${String(youngGenerationMb)}`];
}
