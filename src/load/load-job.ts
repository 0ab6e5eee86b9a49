/**
 * What the lab hands to the generator's process, and what the two tell each other over the channel of `child_process.fork`.
 *
 * In order: the job file (path in `SECKILL_LOAD_JOB`) → `ready` → `start` → `progress` twice a second → `done` → (`finish-payers` → `payers-finished` →) `settle`
 * → `settled` → `stop`.
 * When the channel closes, the generator ends at once.
 *
 * A warm generator is forked without a job: it gets the path of one by `job`, says `stopped` where the other would end, and waits for the next.
 */
import type { HostPort, RoleConfig } from '../domain/role-config.js';
import type { GeneratorFacts } from '../facts/history.js';
import type { LoadSpec } from '../facts/load-spec.js';
import type { PayersJob } from './payers.js';

/** Environment variable with the path of the job file. */
export const LOAD_JOB_VARIABLE = 'SECKILL_LOAD_JOB';

export interface InprocJob {
  /** Absolute path of a module that exports `openInprocGateway` (inproc-port.ts). */
  readonly modulePath: string;
  readonly config: RoleConfig;
}

export interface LoadJob {
  readonly load: LoadSpec;
  /** Every gateway's address. Not used by `inproc`. */
  readonly targets: readonly HostPort[];
  /** Existing folder for `history.bin` and `history.ndjson`. */
  readonly directory: string;
  /** Only for the `inproc` transport. */
  readonly inproc: InprocJob | null;
  /** Only where clients pay: `load.payers` is not null. */
  readonly payment: PayersJob | null;
  /** Secret that permits are signed with, where `load.permits` is not null. */
  readonly permitSecret: string | null;
  /** Most polls a second in all while the storm runs and settles. Default 500. */
  readonly pollsPerSecondMax?: number;
  /** Malformed requests before the start, to warm both sides up (storm.ts). Default 4,000. */
  readonly rehearsalRequests?: number;
  /** False: no rehearsal against a server of its own. For a handful of arrivals of which nobody claims a latency. Default true. */
  readonly calibrates?: boolean;
  /** The last round of polls ends after this, answered or not. Default 30,000. */
  readonly finalPollsTimeoutMs?: number;
}

export interface LoadProgress {
  /** Milliseconds since the start of the storm. */
  readonly elapsedMs: number;
  readonly scheduled: number;
  /** Arrivals whose time has come. */
  readonly offered: number;
  readonly issued: number;
  readonly decided: number;
  readonly accepted: number;
  /** Clients with an order who have something left to do about paying. */
  readonly payersUnfinished: number;
}

export interface ReadyReport {
  readonly arrivals: number;
  /** Open connections per target, in the order of the targets; empty for `inproc`. */
  readonly connected: readonly number[];
  /** Malformed requests that the gateways answered before the start. */
  readonly rehearsed: number;
  /** What the rehearsal against a server of its own showed; null: there was none. */
  readonly calibration: { readonly answered: number; readonly latenessP99Us: number } | null;
}

export type GeneratorMessage =
  | { readonly kind: 'ready'; readonly report: ReadyReport }
  | { readonly kind: 'progress'; readonly progress: LoadProgress }
  | { readonly kind: 'done'; readonly facts: GeneratorFacts }
  | { readonly kind: 'payers-finished'; readonly unfinished: number }
  /** `gatewayMetrics`: Prometheus text of a gateway that lives in the generator; null: there is none. */
  | { readonly kind: 'settled'; readonly asked: number; readonly unanswered: number; readonly gatewayMetrics: string | null }
  /** Warm only: the files are closed, and it waits for a job. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly message: string };

export type LabMessage =
  /** Warm only. */
  | { readonly kind: 'job'; readonly path: string }
  | { readonly kind: 'start'; readonly startAtMonoUs: number }
  | { readonly kind: 'finish-payers'; readonly timeoutMs: number }
  | { readonly kind: 'settle' }
  | { readonly kind: 'stop' };
