/** The timeline of the faults of a run and the proof of each: predicted, landed, healed. */
import type { StepHit } from './targets.js';

/** What can be lost by a fault with its own admission (DESIGN §7, excuses): only records of the store inside the proven window. */
export interface MayLose {
  readonly store: 'redis';
  readonly fromUs: number;
  readonly toUs: number;
}

/** When a store was surely away, as the fault saw it: from after the first proof to before the last. */
export interface SeenOutage {
  readonly fromUs: number;
  readonly toUs: number;
}

export interface FaultRecord {
  /** Unique in the run: `kill-role#1`. */
  readonly id: string;
  readonly name: string;
  readonly options: Readonly<Record<string, string | number>>;
  readonly scheduledUs: number;
  readonly injectedUs: number | null;
  readonly healedUs: number | null;
  /** What had to move, in words, written before the injection. */
  readonly prediction: string;
  /** `landed`: all that was predicted was seen. Anything else makes the run unknown. */
  readonly proof: 'landed' | 'not-landed' | 'not-injected';
  /** What was seen, in words with figures. */
  readonly observed: string;
  /** The undoing was seen to work. */
  readonly healed: boolean;
  readonly healObserved: string;
  /** How many times it struck, of how many asked. */
  readonly strikes: number;
  readonly strikesAsked: number;
  readonly hits: readonly StepHit[];
  readonly mayLose: MayLose | null;
  /** Of a fault that took a store away and saw it gone. Injecting takes time of its own on a busy machine, so this is less than from `injectedUs` to `healedUs`. */
  readonly outage?: SeenOutage;
  /** Of a fault that loses answers: messages that the broker stored while it was surely losing them. */
  readonly unheardMessages?: number;
}
