/** Flags that Node is to be started with for a role. */
import type { RoleName } from '../domain/roles.js';

/**
 * Room for what lives longer, so that the winners of a sale do not set off a collection of the whole heap just when everything is sold: with the usual beginning its marking took
 * a quarter of the first 0.3 s. A larger young generation is not asked for: it saves collections of what is still waited for, but its memory is new to the processor's
 * caches all the time, and a single request cost a fifth more (docs/decisions/0025).
 */
const GATEWAY: readonly string[] = ['--initial-old-space-size=256'];

export function nodeFlagsOf(role: RoleName): readonly string[] {
  return role === 'gateway' ? GATEWAY : [];
}
