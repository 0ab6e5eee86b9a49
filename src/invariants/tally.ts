/**
 * What a judge writes its findings into. It knows the rules that all judges share, so that none can forget one:
 * a violation is a violation whatever else is missing; missing, incomplete or contradicting evidence is `unknown` and never `holds`; a run in which nothing was
 * answered or nothing accepted shows nothing; and a judge that found nothing to check has not found that it holds, unless the run does not ask its question.
 */
import type { Facts } from '../facts/facts.js';
import type { InvariantVerdict, WitnessOfViolation } from '../facts/verdict.js';
import { biographyOf } from './biography.js';
import { evidenceGaps } from './evidence-gaps.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import type { Subject } from './story.js';

export interface Violation {
  /** `reservation`, `user`, `request`, `order`, `message`, `account`, … */
  readonly kind: string;
  readonly id: string;
  /** One sentence: what is wrong with it. */
  readonly claim: string;
  /** Whose story to tell. */
  readonly subject: Subject;
  /** The greater the worse; 1 when left out. */
  readonly severity?: number;
}

export interface Tally {
  /** Counts things checked. */
  check(count?: number): void;
  violation(found: Violation): void;
  /** Something that could not be decided; the judge no longer says `holds`. */
  gap(reason: string): void;
  /** A breach that a fault's proven `mayLose` covers. */
  excuse(): void;
  /** A remark for the reader; changes nothing. */
  remark(text: string): void;
  /** The run does not ask this judge's question, and why: it may hold with nothing checked. */
  notAsked(reason: string): void;
  verdict(): InvariantVerdict;
}

/** Longest list of reasons in a note: the rest is counted. */
const REASONS_SHOWN = 4;

/** A tally that already knows what is missing from the evidence that the invariant needs. */
export function tallyFor(invariant: Pick<Invariant, 'name' | 'needs' | 'comparesStores'>, facts: Facts): Tally {
  const gaps = new Set(evidenceGaps(facts, invariant.needs));
  const remarks: string[] = [];
  const moving = motionOf(facts);
  let checked = 0;
  let violations = 0;
  let excused = 0;
  let isAsked = true;
  let first: Violation | null = null;
  let worst: Violation | null = null;
  if (moving !== null) gaps.add(moving);

  const witness = (found: Violation | null): WitnessOfViolation | null =>
    found === null ? null : { kind: found.kind, id: found.id, claim: found.claim, biography: biographyOf(facts, found.subject) };

  return {
    check: (count = 1) => {
      checked += count;
    },
    violation: (found) => {
      violations += 1;
      first ??= found;
      if (worst === null || (found.severity ?? 1) > (worst.severity ?? 1)) worst = found;
    },
    gap: (reason) => {
      gaps.add(reason);
    },
    excuse: () => {
      excused += 1;
    },
    remark: (text) => {
      remarks.push(text);
    },
    notAsked: (reason) => {
      isAsked = false;
      remarks.push(reason);
    },
    verdict: () => {
      if (isAsked && checked === 0 && violations === 0) gaps.add('there was nothing to check');
      const reasons = [...gaps];
      // Two stores read at different moments of a moving system differ without anybody being wrong.
      const unfair = violations > 0 && invariant.comparesStores && moving !== null;
      const outcome = violations > 0 && !unfair ? 'violated' : reasons.length > 0 ? 'unknown' : 'holds';
      const counts = violations > 0 ? `${String(violations)} ${violations === 1 ? 'violation' : 'violations'} in ${String(checked)} checked` : `${String(checked)} checked`;
      const said = outcome === 'holds' || violations > 0 ? [counts, ...remarks] : [];
      const note = [...said, ...(reasons.length > 0 ? [inShort(reasons, REASONS_SHOWN, '; ')] : [])].join('; ');
      return { name: invariant.name, outcome, checked, violations, first: witness(first), worst: witness(worst), note, excused };
    },
  };
}

/** Why the facts were not read in a standing system; null when they were. */
function motionOf(facts: Facts): string | null {
  if (!facts.settle.present) return `nobody knows whether the system stood still while the facts were read: ${facts.settle.reason}`;
  if (facts.settle.value.quiesced) return null;
  return `the facts were read while the system still moved: ${facts.settle.value.quiesceProblems.join('; ') || 'not quiesced'}`;
}
