/** Where a run's files go; implemented on disk by `src/report/run-folder.ts`. The lab writes through this port only. */
import type { ExperimentPlan } from './experiment-plan.js';
import type { Facts } from './facts.js';
import type { LabEvent } from './lab-event.js';
import type { LoadSpec } from './load-spec.js';
import type { ClockPair } from './timeline.js';
import type { RunVerdict } from './verdict.js';

/** Written before anything starts. */
export interface Manifest {
  readonly schemaVersion: 1;
  readonly runId: string;
  readonly scenario: string;
  readonly seed: number;
  readonly startedAt: string;
  readonly argv: readonly string[];
  readonly git: { readonly sha: string | null; readonly dirty: boolean | null };
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly options: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly load: LoadSpec;
  /** The run as a plan file would say it. */
  readonly plan: ExperimentPlan;
  readonly clockAtStart: ClockPair;
  /** Written again with it once the stack runs; null: it never did. */
  readonly stack: ManifestStack | null;
}

export interface ManifestStack {
  readonly provider: string;
  /** Per server its version and, in a container, the image with its content address and its registry's digest. */
  readonly servers: Readonly<Record<string, { readonly version: string; readonly image?: string; readonly imageId?: string; readonly digest?: string | null }>>;
  readonly roles: ManifestRoles;
}

/** Where the roles ran, and in containers from which image. */
export type ManifestRoles =
  | { readonly home: 'processes' }
  | { readonly home: 'containers'; readonly image: string; readonly imageId: string; readonly digest: string | null };

export interface RunStore {
  /** Absolute. `history.bin`, `history.ndjson` and `logs/` are written into it by the processes concerned. */
  readonly directory: string;
  saveManifest(manifest: Manifest): Promise<void>;
  /** One line of `events.ndjson`. Synchronous, so that nothing is lost when the lab dies. */
  appendEvent(event: LabEvent): void;
  /** Everything but the history, which the generator has written: `facts/*.json` and `facts/*.ndjson`, one row a line. */
  saveFacts(facts: Facts): Promise<void>;
  /** verdict.json, junit.xml, summary.md. */
  saveVerdict(verdict: RunVerdict, facts: Facts): Promise<void>;
}
