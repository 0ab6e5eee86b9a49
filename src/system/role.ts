/** What every role of the system is to its process: something that runs, can be asked for its health, and ends. */
import type { Clock } from '../domain/clock.js';
import type { StepObserver } from '../domain/steps.js';
import type { RoleMetrics } from './role-metrics.js';
import type { RoleTracing } from './tracing/request-trace.js';

export interface RunningRole {
  /** Problems that keep it from being ready; empty: ready. Asked by `/healthz`. */
  health(): Promise<readonly string[]>;
  /** Resolves with the cause when the role can no longer do its work; the process then exits 1. Never resolves otherwise. */
  readonly fatal: Promise<Error>;
  /** Finishes what is in hand, commits what is done, closes connections. At most 5 s. */
  stop(): Promise<void>;
}

/** What every role is given besides its configuration. */
export interface RoleSurroundings {
  readonly clock: Clock;
  readonly observer: StepObserver;
  /** One JSON line to stderr: time, role instance, level, text, fields. */
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string, fields?: Readonly<Record<string, string | number | boolean | null>>): void;
  /** The role's recorder, for what is deep inside. Absent: nothing is measured there. */
  readonly metrics?: RoleMetrics;
  /** Absent: tracing is off. */
  readonly tracing?: RoleTracing;
}
