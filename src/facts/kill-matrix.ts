/**
 * The kill matrix as a document: which judge said "violated" of which mutant, how often, and what follows. Written by `seckill-lab mutants` as
 * `matrix.json`; the schema is `schema/kill-matrix.schema.json`.
 */
import type { InvariantOutcome, RunOutcome } from './verdict.js';

/** One run, of a mutant or of the system as it is. */
export interface MatrixRun {
  /** null: the control, the system as it is. */
  readonly mutant: string | null;
  readonly plan: string;
  readonly seed: number;
  /** From 1. */
  readonly repeat: number;
  /** `failed`: the run could not be carried out, `problem` says why. */
  readonly outcome: RunOutcome | 'failed';
  readonly judges: Readonly<Record<string, InvariantOutcome>>;
  /** Faults that are proven to have struck as often as asked. */
  readonly faultsLanded: boolean;
  readonly tookMs: number;
  /** null: it was as it should be and was deleted. */
  readonly directory: string | null;
  /** Headline of a run that was not as it should be. */
  readonly problem: string | null;
}

export const MUTANT_ENDS = ['killed', 'survived', 'unproven'] as const;
export type MutantEnd = (typeof MUTANT_ENDS)[number];

export interface MutantRow {
  readonly name: string;
  readonly description: string;
  readonly warnedBy: string;
  readonly plan: string;
  readonly caughtBy: string;
  readonly runs: number;
  /** Runs in which the judge that must catch it said violated. */
  readonly killed: number;
  /** Runs in which that judge had every chance to say it, and said holds. */
  readonly survived: number;
  readonly unproven: number;
  readonly end: MutantEnd;
  readonly medianMs: number | null;
  /** Judge → runs in which it said violated. */
  readonly violatedBy: Readonly<Record<string, number>>;
}

export interface ControlRow {
  readonly plan: string;
  readonly runs: number;
  readonly green: number;
  /** Runs in which some judge said violated of the system as it is. */
  readonly alarms: number;
  readonly unproven: number;
  readonly medianMs: number | null;
}

export interface JudgeRow {
  readonly name: string;
  /** Mutants that would survive without it. */
  readonly soleKillerOf: readonly string[];
  /** Mutants of which it said violated in any run. */
  readonly sees: readonly string[];
  /** Why it need not be the only one to see some mutant; null: it has to be. */
  readonly reason: string | null;
}

export interface KillMatrix {
  readonly schemaVersion: 1;
  /** ISO time. */
  readonly startedAt: string;
  readonly seed: number;
  readonly repeats: number;
  readonly reduced: boolean;
  /** Judges that were not asked. */
  readonly withoutJudges: readonly string[];
  /** Every mutant of the registry took part, so the judges can be weighed. */
  readonly complete: boolean;
  readonly mutants: readonly MutantRow[];
  readonly controls: readonly ControlRow[];
  readonly judges: readonly JudgeRow[];
  /** What is wrong, worst first; empty: nothing. */
  readonly problems: readonly string[];
  readonly outcome: 'all-killed' | 'judges-blind' | 'unproven';
  readonly exitCode: number;
}
