/**
 * What a service level is: a promise about speed, judged only in a run whose load was honest. Under faults the promises about answers and orders cover
 * the arrivals outside [first fault, drained again]; inside, recovery-time is the promise (DESIGN §7).
 */
import type { Facts, ServiceLevelSpec } from '../../facts/facts.js';
import type { ServiceLevelVerdict } from '../../facts/verdict.js';

export type ServiceLevelJudge = (facts: Facts, spec: ServiceLevelSpec) => ServiceLevelVerdict;

const SHARES: ReadonlySet<ServiceLevelSpec['name']> = new Set(['order-within-3s', 'decided']);

/** Time that the faults and the recovery from them claim; null when nothing was broken. */
export interface FaultWindow {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Infinity as its end when the system never drained again. Without fault evidence the whole run counts as broken: nothing may be promised from it. */
export function faultWindow(facts: Facts): FaultWindow | null {
  if (!facts.faults.present) return { fromUs: -Infinity, toUs: Infinity };
  const starts = facts.faults.value.map((fault) => fault.injectedUs ?? fault.scheduledUs);
  if (starts.length === 0) return null;
  const drainedUs = facts.settle.present ? facts.settle.value.drainedUs : null;
  return { fromUs: Math.min(...starts), toUs: drainedUs ?? Infinity };
}

export function isOutside(window: FaultWindow | null, atUs: number): boolean {
  return window === null || atUs < window.fromUs || atUs > window.toUs;
}

export function unknownLevel(spec: ServiceLevelSpec, reason: string): ServiceLevelVerdict {
  return { ...blank(spec), outcome: 'unknown', note: reason };
}

export function levelNotJudged(spec: ServiceLevelSpec, reason: string): ServiceLevelVerdict {
  return { ...blank(spec), outcome: 'not-judged', note: reason };
}

function blank(spec: ServiceLevelSpec): Omit<ServiceLevelVerdict, 'outcome' | 'note'> {
  return { name: spec.name, measured: null, bound: spec.bound, unit: SHARES.has(spec.name) ? 'share' : 'ms' };
}
