/**
 * A history mutant: one way in which the facts of a good run can be made untrue. It proves that the judges see, in milliseconds and without a server, where
 * a mutant of the system would need a run of its own (STYLE 6: prove the tester can fail).
 */
import type { Draft, Mutable } from '../../facts/edited-facts.js';

/** Seeded: 0 ≤ x < 1. */
export type Random = () => number;

export interface HistoryMutant {
  readonly name: string;
  /** One sentence: what is untrue afterwards. */
  readonly description: string;
  /** What a magnitude counts: rows, units, microseconds. */
  readonly unit: string;
  /** From the least up; each of them has to be noticed. */
  readonly magnitudes: readonly number[];
  /** Null: some judge must say `violated` or `unknown`. Otherwise the reason why the change is legal, and then no judge may say either. */
  readonly equivalent: string | null;
  /** Changes the draft. False: these facts have nothing of the kind to change, and nothing was changed. */
  apply(draft: Draft, random: Random, magnitude: number): boolean;
}

export type { Draft, Mutable };

/** One of the items; null: there are none. */
export function anyOf<T>(items: readonly T[], random: Random): T | null {
  return items[Math.floor(random() * items.length)] ?? null;
}

/** `count` different ones, or null when there are not so many. */
export function someOf<T>(items: readonly T[], count: number, random: Random): readonly T[] | null {
  if (items.length < count) return null;
  const left = [...items];
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0] as T);
}
