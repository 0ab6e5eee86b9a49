/**
 * Edits facts: a copy without `readonly` and without the wrapping of evidence, so that one wrong thing can be written down in one line. For tests of the
 * judges and for corrupting the facts of a good run on purpose; nothing that judges may call it.
 */
import type { Facts } from './facts.js';
import type { Evidence } from './store-facts.js';

type Bytes = Float64Array | Uint8Array | Uint16Array;
export type Mutable<T> = T extends Bytes ? T : T extends readonly (infer Item)[] ? Mutable<Item>[] : T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;
type Kind = Exclude<keyof Facts, 'run'>;
/** Every kind of evidence, present and writable. */
export type Draft = { run: Mutable<Facts['run']> } & { [Name in Kind]: Facts[Name] extends Evidence<infer T> ? Mutable<T> : never };

/**
 * The facts after `change`; the given ones stay as they are. Each kind is copied when it is first touched, since most edits touch one or two and a history of
 * millions is slow to copy. Throws when `change` touches evidence that is missing.
 */
export function edited(facts: Facts, change: (draft: Draft) => void): Facts {
  const copies: Partial<Record<keyof Facts, unknown>> = {};
  const draft = {} as Draft;
  for (const name of Object.keys(facts) as (keyof Facts)[]) {
    Object.defineProperty(draft, name, {
      get: () => (copies[name] ??= structuredClone(contentOf(facts, name))),
      set: (value: unknown) => {
        copies[name] = value;
      },
    });
  }
  change(draft);
  const changed = Object.entries(copies).map(([name, value]) => [name, name === 'run' ? value : { present: true, value }] as const);
  return { ...facts, ...Object.fromEntries(changed) };
}

function contentOf(facts: Facts, name: keyof Facts): unknown {
  if (name === 'run') return facts.run;
  const evidence = facts[name];
  if (!evidence.present) throw new Error(`${name} is missing: nothing to edit`);
  return evidence.value;
}
