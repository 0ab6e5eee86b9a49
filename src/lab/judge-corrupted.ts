/**
 * Corrupts the facts of a good run, kind by kind and from the least magnitude up, and looks whether the judges notice: proof on the user's own run that its
 * green is worth something. No server, no I/O.
 */
import { seededRandom } from '../facts/arrival-plan.js';
import { edited } from '../facts/edited-facts.js';
import type { Facts } from '../facts/facts.js';
import type { Invariant } from '../invariants/invariant.js';
import type { HistoryMutant } from '../mutants/history/history-mutant.js';

export interface CorruptedCase {
  readonly mutant: string;
  readonly magnitude: number;
  /** Which of the repeats; with the seed it names the very row. */
  readonly repeat: number;
  /** Judges that said `violated`, then those that said `unknown`. */
  readonly violated: readonly string[];
  readonly unknown: readonly string[];
  /** Empty: as declared. */
  readonly problem: string;
  readonly tookMs: number;
}

export interface CorruptionOutcome {
  readonly cases: readonly CorruptedCase[];
  /** Kinds of which these facts have nothing. */
  readonly notApplicable: readonly string[];
}

/**
 * `judges` have to hold on `facts`; others would notice whatever is done. Throws when one of them does not: facts of a run that is not green prove nothing.
 */
export function judgeCorrupted(facts: Facts, judges: readonly Invariant[], mutants: readonly HistoryMutant[], options: { readonly seed: number; readonly repeats: number }, nowMs: () => number): CorruptionOutcome {
  for (const judge of judges) {
    const { outcome, note } = judge.judge(facts);
    if (outcome !== 'holds') throw new Error(`${judge.name} says ${outcome} of the facts as they are: ${note}`);
  }
  const cases: CorruptedCase[] = [];
  const notApplicable: string[] = [];
  for (const [at, mutant] of mutants.entries()) {
    const before = cases.length;
    for (const magnitude of mutant.magnitudes) {
      for (let repeat = 0; repeat < options.repeats; repeat += 1) {
        const random = seededRandom(options.seed + at * 7_919 + magnitude * 31 + repeat);
        const found = judgeOne(facts, judges, mutant, magnitude, random, nowMs);
        if (found !== null) cases.push({ ...found, repeat });
      }
    }
    if (cases.length === before) notApplicable.push(mutant.name);
  }
  return { cases, notApplicable };
}

function judgeOne(facts: Facts, judges: readonly Invariant[], mutant: HistoryMutant, magnitude: number, random: () => number, nowMs: () => number): Omit<CorruptedCase, 'repeat'> | null {
  const applied: boolean[] = [];
  const corrupted = edited(facts, (draft) => {
    applied.push(mutant.apply(draft, random, magnitude));
  });
  if (applied[0] !== true) return null;
  const startedMs = nowMs();
  const verdicts = judges.map((judge) => judge.judge(corrupted));
  const saying = (outcome: string): string[] => verdicts.filter((verdict) => verdict.outcome === outcome).map((verdict) => verdict.name);
  const violated = saying('violated');
  const unknown = saying('unknown');
  const noticed = violated.length + unknown.length > 0;
  const problem = mutant.equivalent === null ? (noticed ? '' : 'no judge noticed') : noticed ? `an alarm about a legal change: ${mutant.equivalent}` : '';
  return { mutant: mutant.name, magnitude, violated, unknown, problem, tookMs: nowMs() - startedMs };
}
