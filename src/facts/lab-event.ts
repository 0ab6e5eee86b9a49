/** What the lab says while it runs; faces (TTY view, progress lines, logs) only listen. */
import type { RoleInstance } from '../domain/roles.js';
import type { RunVerdict } from './verdict.js';

export const STAGES = ['plan', 'stack', 'system', 'probe', 'storm', 'heal', 'settle', 'harvest', 'report'] as const;
export type StageName = (typeof STAGES)[number];

/** A snapshot of counters, about twice a second during storm and settle. Null: not known yet. */
export interface Progress {
  readonly elapsedMs: number;
  readonly scheduled: number;
  readonly offered: number;
  readonly issued: number;
  readonly decided: number;
  readonly accepted: number;
  readonly stockLeft: number | null;
  readonly orders: number | null;
  readonly consumerLag: number | null;
  readonly pending: number | null;
}

export type LabEvent =
  | { readonly kind: 'stage'; readonly stage: StageName; readonly state: 'begin' | 'end'; readonly atUs: number }
  | { readonly kind: 'note'; readonly text: string; readonly atUs: number }
  | { readonly kind: 'progress'; readonly progress: Progress; readonly atUs: number }
  | { readonly kind: 'fault'; readonly id: string; readonly state: 'armed' | 'landed' | 'not-landed' | 'healed' | 'not-healed'; readonly text: string; readonly atUs: number }
  | { readonly kind: 'role'; readonly instance: RoleInstance; readonly state: 'started' | 'ready' | 'exited'; readonly text: string; readonly atUs: number }
  | { readonly kind: 'verdict'; readonly verdict: RunVerdict; readonly atUs: number };

export type LabEventListener = (event: LabEvent) => void;
