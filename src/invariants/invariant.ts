/** What an invariant is: a name, what it means to a reader, the evidence it needs, and a pure judge. One file each (DESIGN §3). */
import type { Facts } from '../facts/facts.js';
import type { InvariantVerdict } from '../facts/verdict.js';

export type EvidenceKind = Exclude<keyof Facts, 'run'>;

export interface Invariant {
  readonly name: string;
  /** A few words for a table. */
  readonly title: string;
  /** One or two sentences for somebody who has never sold anything. */
  readonly whatItMeans: string;
  /** Without these the judge says `unknown`. */
  readonly needs: readonly EvidenceKind[];
  /**
   * Its witnesses compare two stores or a store with clients, so facts that were read while the system still moved prove nothing,
   * neither good nor bad.
   */
  readonly comparesStores: boolean;
  /** Pure; may throw on facts that no harvest can produce: the merge turns that into `unknown`. */
  readonly judge: (facts: Facts) => InvariantVerdict;
}
