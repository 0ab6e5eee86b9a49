/**
 * A run as a value that can be written down and carried out again: what a plan file holds, and what the manifest of every run holds with all defaults
 * filled in. Written by `shrink`, read by `run --plan`.
 */
export const PLAN_SCHEMA_VERSION = 1;

export interface ExperimentPlan {
  readonly schemaVersion: typeof PLAN_SCHEMA_VERSION;
  readonly scenario: string;
  /** Left out: drawn by the run. */
  readonly seed?: number;
  /** Options of `run` by their names without dashes (`rate`, `duration`, `stock`, …), written as on the command line; the rest is the scenario's. */
  readonly options?: Readonly<Record<string, string | number>>;
  /** Fault options `name@key=value,…`: all there are, those of the scenario do not come on top. Left out: the scenario's own. */
  readonly faults?: readonly string[];
  /** Left out: the system as it is. */
  readonly mutant?: string;
}
