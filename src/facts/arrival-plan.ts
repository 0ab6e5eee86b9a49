/**
 * Expands a `LoadSpec` into one row per arrival. Pure and seeded: the generator issues it, the judges expand it again to know what was asked
 * for, and neither takes the other's word.
 *
 * Arrival i of a constant schedule is due at i / rate without accumulated drift; Poisson adds exponential gaps; a spike thins the base.
 */
import { ARRIVAL_KINDS, BOT_KINDS, type ArrivalKind, type ArrivalShape, type BotShares, type LoadSpec, type TrafficMix } from './load-spec.js';
import type { DeviceId, RequestId, UserId } from '../domain/ids.js';

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
  /** Arrival whose permit this one shows: its request's first arrival, or for a replayed permit an earlier one of the same user. */
  readonly permitOf: Uint32Array;
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

/** Due times grow in a typed array: three million boxed numbers in a plain array cost more than the whole expansion. */
function dueTimes(shape: ArrivalShape, ratePerSecond: number, durationMs: number, random: () => number): Float64Array {
  const endUs = durationMs * 1000;
  const expected = (ratePerSecond * durationMs) / 1000;
  if (shape.kind === 'constant') {
    const times = new Float64Array(Math.round(expected));
    for (let index = 0; index < times.length; index += 1) times[index] = (index * 1_000_000) / ratePerSecond;
    return times;
  }
  // Eight standard deviations of room; it grows in the unheard-of rest.
  let times = new Float64Array(Math.ceil(expected + 8 * Math.sqrt(expected)) + 16);
  let count = 0;
  let at = 0;
  for (;;) {
    at += (-Math.log(1 - random()) / ratePerSecond) * 1_000_000;
    if (at >= endUs) return times.slice(0, count);
    const inSpike = shape.kind === 'spike' && at >= shape.fromMs * 1000 && at < shape.toMs * 1000;
    // Thinning keeps the process Poisson at both levels.
    if (shape.kind !== 'poisson' && !inSpike && random() >= shape.baseShare) continue;
    if (count === times.length) {
      const wider = new Float64Array(times.length * 2);
      wider.set(times);
      times = wider;
    }
    times[count] = at;
    count += 1;
  }
}

const FRESH = ARRIVAL_KINDS.indexOf('fresh');
const REPEAT = ARRIVAL_KINDS.indexOf('repeat');
const SAME_USER = ARRIVAL_KINDS.indexOf('same-user');
const CONFLICT = ARRIVAL_KINDS.indexOf('conflict');
const MALFORMED = ARRIVAL_KINDS.indexOf('malformed');
const NO_PERMIT = ARRIVAL_KINDS.indexOf('no-permit');
const FORGED = ARRIVAL_KINDS.indexOf('forged-permit');
const EXPIRED = ARRIVAL_KINDS.indexOf('expired-permit');
const REPLAYED = ARRIVAL_KINDS.indexOf('replayed-permit');

/** Kind of an arrival by one draw; without an earlier request to refer to everything is fresh. */
function kindOf(draw: number, mix: TrafficMix, bots: BotShares | null, hasEarlier: boolean): number {
  if (!hasEarlier) return FRESH;
  let upTo = mix.repeatShare;
  if (draw < upTo) return REPEAT;
  upTo += mix.conflictShare;
  if (draw < upTo) return CONFLICT;
  upTo += mix.sameUserShare;
  if (draw < upTo) return SAME_USER;
  upTo += mix.malformedShare;
  if (draw < upTo) return MALFORMED;
  return bots === null ? FRESH : botKindOf(draw - upTo, bots);
}

function botKindOf(draw: number, bots: BotShares): number {
  let upTo = bots.noPermit;
  if (draw < upTo) return NO_PERMIT;
  upTo += bots.forgedPermit;
  if (draw < upTo) return FORGED;
  upTo += bots.expiredPermit;
  if (draw < upTo) return EXPIRED;
  upTo += bots.replayedPermit;
  return draw < upTo ? REPLAYED : FRESH;
}

/** The whole plan of a load, the same for the same spec on every machine. Three million arrivals take about a third of a second. */
export function expandArrivalPlan(spec: LoadSpec): ArrivalPlan {
  const random = seededRandom(spec.seed);
  const dueUs = dueTimes(spec.shape, spec.ratePerSecond, spec.durationMs, random);
  const length = dueUs.length;
  const kinds = new Uint8Array(length);
  const requestOf = new Uint32Array(length);
  const user = new Uint32Array(length);
  const bots = spec.permits?.bots ?? null;
  // Only a replayed permit is another arrival's: without bots the column is that of the requests.
  const permitOf = bots === null ? requestOf : new Uint32Array(length);
  // Arrivals that others may refer to: fresh ones and new requests of known users. Never malformed ones, which do not reach the stock.
  const sources = new Uint32Array(length);
  let sourceCount = 0;
  let userCount = 0;
  for (let index = 0; index < length; index += 1) {
    const draw = random();
    const hasEarlier = sourceCount > 0;
    const earlier = hasEarlier ? (sources[Math.floor(random() * sourceCount)] ?? 0) : 0;
    const kind = kindOf(draw, spec.mix, bots, hasEarlier);
    kinds[index] = kind;
    if (kind === REPEAT || kind === CONFLICT) {
      requestOf[index] = earlier;
      user[index] = user[earlier] ?? 0;
      permitOf[index] = earlier;
      continue;
    }
    requestOf[index] = index;
    permitOf[index] = kind === REPLAYED ? earlier : index;
    if (kind === SAME_USER || kind === REPLAYED) {
      user[index] = user[earlier] ?? 0;
    } else {
      user[index] = spec.mix.distinctUsers === null ? userCount : userCount % spec.mix.distinctUsers;
      userCount += 1;
    }
    if (kind === FRESH || kind === SAME_USER) {
      sources[sourceCount] = index;
      sourceCount += 1;
    }
  }
  return { length, dueUs, kind: kinds, requestOf, user, permitOf };
}

/**
 * User ids start at 9,007,199,254,741,000, above 2^53, so that an id that loses digits on the way is seen at once (CASES C35). Kept in two
 * halves of which the lower has six digits: adding in BigInt costs three times as much, and this runs once per arrival.
 */
const FIRST_USER_UPPER = 9_007_199_254;
const FIRST_USER_LOWER = 741_000;
const LOWER_SIZE = 1_000_000;

export function userIdAt(plan: ArrivalPlan, index: number): UserId {
  const sum = FIRST_USER_LOWER + (plan.user[index] ?? 0);
  const carry = Math.floor(sum / LOWER_SIZE);
  // Adding 1,000,000 and dropping the leading 1 pads to six digits.
  return String(FIRST_USER_UPPER + carry) + String(LOWER_SIZE + sum - carry * LOWER_SIZE).slice(1);
}

export function requestIdAt(spec: LoadSpec, plan: ArrivalPlan, index: number): RequestId {
  return `r${String(spec.seed)}-${String(plan.requestOf[index] ?? index)}`;
}

/** Device ids: one per user; all bots take turns on a few. */
export function deviceIdAt(spec: LoadSpec, plan: ArrivalPlan, index: number): DeviceId {
  const devices = spec.permits?.bots.devices ?? 0;
  return BOT_KINDS.includes(arrivalKindAt(plan, index)) && devices > 0 ? `bot-${String(index % devices)}` : `d-${String(plan.user[index] ?? 0)}`;
}

export function arrivalKindAt(plan: ArrivalPlan, index: number): ArrivalKind {
  const kind = ARRIVAL_KINDS[plan.kind[index] ?? 0];
  if (kind === undefined) throw new Error(`arrival ${String(index)} has kind ${String(plan.kind[index])}`);
  return kind;
}

/** The arrival whose permit this one shows; its own but for bots that replay one. */
export function permitAt(plan: ArrivalPlan, index: number): number {
  return plan.permitOf[index] ?? index;
}

/** Nonce of the permit that was made for this arrival: different for each, the same on every machine. */
export function nonceAt({ seed }: Pick<LoadSpec, 'seed'>, permit: number): string {
  return `lab-${String(seed)}-${String(permit).padStart(7, '0')}`;
}
