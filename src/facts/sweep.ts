/** A sweep of the protocol's steps: what it does, what it found, and where that is kept. */
import type { LinkName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';
import type { RunOutcome } from './verdict.js';

/** kill: SIGKILL at the step. pause: SIGSTOP at the step, past every lease and session. cut: the role's connection to a store. */
export const SWEEP_ACTIONS = ['kill', 'pause', 'cut'] as const;
export type SweepAction = (typeof SWEEP_ACTIONS)[number];

/** Of the hits that the counting run saw. */
export const SWEEP_HITS = ['first', 'middle', 'last'] as const;
export type SweepHit = (typeof SWEEP_HITS)[number];

export type SweepStream = 'downstream' | 'upstream' | 'both';

export interface SweepStrike {
  readonly step: StepName;
  readonly action: SweepAction;
  readonly when: SweepHit;
  /** From 1. */
  readonly hit: number;
  /** Only of a cut: over which link, and what of it is lost (`cut-at-step`). */
  readonly link: LinkName | null;
  readonly stream: SweepStream | null;
  /** Two processes of the role run: whoever comes first is the victim, and the other has to take over what it holds while it stands still. */
  readonly hasPartner: boolean;
}

export interface SweepCase {
  /** `consumer.after-order kill first`, `relay.after-send cut first relay-kafka both`; of a pair both, with ` + ` between. */
  readonly id: string;
  /** Name of the base run. */
  readonly base: string;
  /** One, or two of a pair. */
  readonly strikes: readonly SweepStrike[];
}

/** `failed`: the case could not be carried out, twice. */
export type SweepOutcome = RunOutcome | 'failed';

export interface SweepRow {
  readonly id: string;
  readonly base: string;
  /** As they were carried out: at a second attempt maybe at an earlier hit than the case asks for. */
  readonly strikes: readonly SweepStrike[];
  readonly isNearer: boolean;
  readonly outcome: SweepOutcome;
  /** One sentence. */
  readonly headline: string;
  /** From the first strike until everything was drained; null: nobody can tell. */
  readonly recoveryMs: number | null;
  readonly tookMs: number;
  /** 2: the first attempt proved nothing, and `firstAttempt` says why. */
  readonly attempts: number;
  readonly firstAttempt: string | null;
  /** Run folder that was kept; null of a green one, of which nothing is kept. */
  readonly directory: string | null;
}

/** How often a step was reached in a base run without strikes. */
export interface StepCount {
  readonly base: string;
  readonly step: StepName;
  readonly hits: number;
}

/** Everything a sweep needs to go on after its process is gone. Written once, when the counting runs are over. */
export interface SweepHead {
  readonly schemaVersion: 2;
  readonly startedAt: string;
  readonly seed: number;
  readonly mutant: string | null;
  readonly lanes: number;
  /** Of the code: null when it is not in a checkout. */
  readonly gitSha: string | null;
  /** Of the code that runs; rows of other code are never put beside these. */
  readonly codeDigest: string;
  readonly counts: readonly StepCount[];
  readonly cases: readonly SweepCase[];
  /** Steps asked for that no base run reaches, though each was tried twice. */
  readonly unreached: readonly StepName[];
}

/** The place of a sweep: a head, a row per finished case, run folders of the cases. */
export interface SweepStore {
  readonly directory: string;
  saveHead(head: SweepHead): Promise<void>;
  /** Synchronous and whole: after it returns, a kill loses nothing. */
  appendRow(row: SweepRow): void;
  saveTable(text: string): Promise<void>;
}
