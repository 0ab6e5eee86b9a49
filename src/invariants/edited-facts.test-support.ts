/** Edits facts in a test: a deep copy without `readonly` and without the wrapping of evidence, so that one wrong thing can be written down in one line. */
import type { Facts } from '../facts/facts.js';
import type { Evidence } from '../facts/store-facts.js';
import type { EvidenceKind } from './invariant.js';

type Bytes = Float64Array | Uint8Array | Uint16Array;
export type Mutable<T> = T extends Bytes ? T : T extends readonly (infer Item)[] ? Mutable<Item>[] : T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;
/** What a test edits: every kind of evidence, present and writable. */
export type Draft = { run: Mutable<Facts['run']> } & { [Kind in EvidenceKind]: Facts[Kind] extends Evidence<infer T> ? Mutable<T> : never };

const KINDS: readonly EvidenceKind[] = ['history', 'redis', 'kafka', 'postgres', 'commitLog', 'faults', 'settle', 'metrics'];

/** The facts after `change`; the given ones stay as they are. All evidence has to be present. */
export function edited(facts: Facts, change: (draft: Draft) => void): Facts {
  const draft: Record<string, unknown> = { run: structuredClone(facts.run) };
  for (const kind of KINDS) {
    const evidence = facts[kind];
    if (!evidence.present) throw new Error(`${kind} is missing: nothing to edit`);
    draft[kind] = structuredClone(evidence.value);
  }
  change(draft as unknown as Draft);
  const wrapped = KINDS.map((kind) => [kind, { present: true, value: draft[kind] }] as const);
  return { run: draft['run'], ...Object.fromEntries(wrapped) } as unknown as Facts;
}

/** The facts with one kind of evidence gone. */
export function without(facts: Facts, kind: EvidenceKind): Facts {
  return { ...facts, [kind]: { present: false, reason: `${kind} was not harvested` } };
}
