/**
 * Expands a `LoadSpec` into one row per arrival. Pure and seeded: the generator issues it, the judges expand it again to know what was asked
 * for, and neither takes the other's word.
 *
 * Arrival i of a constant schedule is due at i / rate without accumulated drift; Poisson adds exponential gaps; a spike thins the base.
 */
import { ARRIVAL_KINDS, type ArrivalKind, type ArrivalShape, type LoadSpec } from './load-spec.js';
import type { RequestId, UserId } from '../domain/ids.js';

export interface ArrivalPlan {
  readonly length: number;
  /** Due time in microseconds after the start of the storm, rising. */
  readonly dueUs: Float64Array;
  /** Index into `ARRIVAL_KINDS`. */
  readonly kind: Uint8Array;
  /** Arrival whose request id this one uses; itself unless repeat or conflict. */
  readonly requestOf: Uint32Array;
  /** Ordinal of the user, from 0. */
  readonly user: Uint32Array;
}

/** Seeded generator of uniform numbers in [0, 1): mulberry32, 32 bits of state, enough for schedules and shares. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function dueTimes(shape: ArrivalShape, ratePerSecond: number, durationMs: number, random: () => number): Float64Array {
  const endUs = durationMs * 1000;
  const times: number[] = [];
  if (shape.kind === 'constant') {
    const count = Math.round((ratePerSecond * durationMs) / 1000);
    return Float64Array.from({ length: count }, (_, index) => (index * 1_000_000) / ratePerSecond);
  }
  let at = 0;
  for (;;) {
    at += (-Math.log(1 - random()) / ratePerSecond) * 1_000_000;
    if (at >= endUs) return Float64Array.from(times);
    const inSpike = shape.kind === 'spike' && at >= shape.fromMs * 1000 && at < shape.toMs * 1000;
    // Thinning keeps the process Poisson at both levels.
    if (shape.kind === 'poisson' || inSpike || random() < shape.baseShare) times.push(at);
  }
}

export function expandArrivalPlan(spec: LoadSpec): ArrivalPlan {
  const random = seededRandom(spec.seed);
  const dueUs = dueTimes(spec.shape, spec.ratePerSecond, spec.durationMs, random);
  const length = dueUs.length;
  const kind = new Uint8Array(length);
  const requestOf = new Uint32Array(length);
  const user = new Uint32Array(length);
  const { repeatShare, sameUserShare, conflictShare, malformedShare, distinctUsers } = spec.mix;
  const number = (name: ArrivalKind): number => ARRIVAL_KINDS.indexOf(name);
  // Arrivals that others may repeat: all but malformed ones, which never reach the stock.
  const sources = new Uint32Array(length);
  let sourceCount = 0;
  let userCount = 0;
  for (let index = 0; index < length; index += 1) {
    const draw = random();
    const earlier = sourceCount === 0 ? null : (sources[Math.floor(random() * sourceCount)] ?? null);
    requestOf[index] = index;
    if (earlier !== null && draw < repeatShare) {
      kind[index] = number('repeat');
      requestOf[index] = requestOf[earlier] ?? earlier;
      user[index] = user[earlier] ?? 0;
      continue;
    }
    if (earlier !== null && draw < repeatShare + conflictShare) {
      kind[index] = number('conflict');
      requestOf[index] = requestOf[earlier] ?? earlier;
      user[index] = user[earlier] ?? 0;
      continue;
    }
    if (earlier !== null && draw < repeatShare + conflictShare + sameUserShare) {
      kind[index] = number('same-user');
      user[index] = user[earlier] ?? 0;
    } else {
      kind[index] = draw < repeatShare + conflictShare + sameUserShare + malformedShare && earlier !== null ? number('malformed') : number('fresh');
      user[index] = distinctUsers === null ? userCount : userCount % distinctUsers;
      userCount += 1;
    }
    if (kind[index] !== number('malformed')) {
      sources[sourceCount] = index;
      sourceCount += 1;
    }
  }
  return { length, dueUs, kind, requestOf, user };
}

/** User ids start above 2^53, so that an id that loses digits on the way is seen at once (CASES C35). */
const FIRST_USER_ID = 9_007_199_254_741_000n;

export function userIdAt(plan: ArrivalPlan, index: number): UserId {
  return (FIRST_USER_ID + BigInt(plan.user[index] ?? 0)).toString();
}

export function requestIdAt(spec: LoadSpec, plan: ArrivalPlan, index: number): RequestId {
  return `r${String(spec.seed)}-${String(plan.requestOf[index] ?? index)}`;
}

export function arrivalKindAt(plan: ArrivalPlan, index: number): ArrivalKind {
  const kind = ARRIVAL_KINDS[plan.kind[index] ?? 0];
  if (kind === undefined) throw new Error(`arrival ${String(index)} has kind ${String(plan.kind[index])}`);
  return kind;
}
