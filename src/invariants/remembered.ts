/**
 * Remembers what was computed from one `Facts` value. Fourteen judges look at the same three million arrivals: without this each of them
 * would expand the plan and index the stores again. Facts never change, so a judge stays a pure function.
 */
import type { Facts } from '../facts/facts.js';

/** The same answer for the same facts object, computed once; forgotten with the facts. */
export function rememberedPerFacts<T>(compute: (facts: Facts) => T): (facts: Facts) => T {
  const answers = new WeakMap<Facts, { readonly value: T }>();
  return (facts) => {
    const known = answers.get(facts);
    if (known !== undefined) return known.value;
    const value = compute(facts);
    answers.set(facts, { value });
    return value;
  };
}
