/** Facts edited in a test of the judges. */
import type { Facts } from '../facts/facts.js';
import type { EvidenceKind } from './invariant.js';

export { edited, type Draft } from '../facts/edited-facts.js';

/** The facts with one kind of evidence gone. */
export function without(facts: Facts, kind: EvidenceKind): Facts {
  return { ...facts, [kind]: { present: false, reason: `${kind} was not harvested` } };
}
