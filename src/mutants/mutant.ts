/**
 * A mutant: the system with one guard taken out on purpose. It shows what the guard is for, and that the judge which should notice does
 * (STYLE 6: prove the tester can fail).
 *
 * A mutant is a bundle: what it swaps at the composition root (`overrides`), what it drops from the schema (`sql`), and the small run under whose load and
 * faults it shows. The system's own code has no switch for it.
 */
import type { RoleConfig } from '../domain/role-config.js';
import type { Scenario } from '../scenarios/scenario.js';
import type { RoleOverrides } from '../system/compose.js';

export interface Mutant {
  readonly name: string;
  /** One sentence: which guard is gone. */
  readonly description: string;
  /** Paper and section that warns of it. */
  readonly warnedBy: string;
  /** The invariant that must be violated. Others may be too. */
  readonly caughtBy: string;
  /** The run in which it shows, one of `plans/registry.ts`. The same run without the mutant is its control and must be green. */
  readonly showsUnder: Scenario;
  /** Run on the run's own database after it was made and before the storm. Empty: the schema is left alone. */
  readonly sql: readonly string[];
  /** What is wrong in the processes of this role; nothing for the roles that stay right. */
  overrides(config: RoleConfig): RoleOverrides;
}
