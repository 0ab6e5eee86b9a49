/** One count of what a run came to. Pure; null where the evidence is missing, for a guess would be as bad as not looking. */
import type { Facts } from '../../facts/facts.js';
import type { RunFigures } from '../../facts/verdict.js';

export interface CountedFigure {
  /** What is counted, as it follows a number: `1,012 payments that …`. */
  readonly what: string;
  readonly count: (facts: Facts, figures: RunFigures) => number | null;
}
