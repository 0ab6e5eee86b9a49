/** The plan of a storm: deterministic, in order, with the shares that were asked for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { arrivalKindAt, deviceIdAt, expandArrivalPlan, requestIdAt, userIdAt, type ArrivalPlan } from './arrival-plan.js';
import { ARRIVAL_KINDS, BOT_KINDS, DEFAULT_MIX, type ArrivalKind, type ArrivalShape, type LoadSpec } from './load-spec.js';

function spec(changes: Partial<LoadSpec> = {}): LoadSpec {
  return {
    seed: 1, ratePerSecond: 1000, durationMs: 1000, shape: { kind: 'poisson' }, mix: DEFAULT_MIX, transport: 'http', activityId: 'a1', skuId: 's1',
    requestTimeoutMs: 1000, connections: 8, pollIntervalMs: 200, pollsMax: 10, payers: null, permits: null, ...changes,
  };
}

const shapes: fc.Arbitrary<ArrivalShape> = fc.oneof(
  fc.constant<ArrivalShape>({ kind: 'constant' }),
  fc.constant<ArrivalShape>({ kind: 'poisson' }),
  fc.record({ baseShare: fc.double({ min: 0, max: 1, noNaN: true }), fromMs: fc.nat(500), toMs: fc.integer({ min: 500, max: 1000 }) })
    .map((spike): ArrivalShape => ({ kind: 'spike', ...spike })),
);

const specs = fc.record({
  seed: fc.integer({ min: 0, max: 0xffffffff }),
  ratePerSecond: fc.integer({ min: 1, max: 5000 }),
  durationMs: fc.integer({ min: 1, max: 1500 }),
  shape: shapes,
  mix: fc.record({
    repeatShare: fc.double({ min: 0, max: 0.25, noNaN: true }),
    sameUserShare: fc.double({ min: 0, max: 0.25, noNaN: true }),
    conflictShare: fc.double({ min: 0, max: 0.25, noNaN: true }),
    malformedShare: fc.double({ min: 0, max: 0.25, noNaN: true }),
    distinctUsers: fc.option(fc.integer({ min: 1, max: 50 })),
  }),
}).map((parts) => spec(parts));

function sameBytes(left: ArrivalPlan, right: ArrivalPlan): boolean {
  return (['dueUs', 'kind', 'requestOf', 'user'] as const).every((column) => Buffer.from(left[column].buffer).equals(Buffer.from(right[column].buffer)));
}

function countKinds(plan: ArrivalPlan): number[] {
  const counts = ARRIVAL_KINDS.map(() => 0);
  for (const kind of plan.kind) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe('arrival plan', () => {
  it('is the same for the same spec', () => {
    fc.assert(fc.property(specs, (load) => sameBytes(expandArrivalPlan(load), expandArrivalPlan(load))), { numRuns: 50 });
  });

  it('differs by seed', () => {
    expect(sameBytes(expandArrivalPlan(spec({ seed: 1 })), expandArrivalPlan(spec({ seed: 2 })))).toBe(false);
  });

  it('has rising due times inside the duration, and refers only to earlier requests of the same user', () => {
    fc.assert(fc.property(specs, (load) => {
      const plan = expandArrivalPlan(load);
      for (let index = 0; index < plan.length; index += 1) {
        const due = plan.dueUs[index] ?? NaN;
        const before = index === 0 ? 0 : (plan.dueUs[index - 1] ?? NaN);
        // A constant schedule rounds its count, so its last arrival may be due half a gap after the end.
        if (!(due >= before) || due >= load.durationMs * 1000 + 500_000 / load.ratePerSecond) return false;
        const request = plan.requestOf[index] ?? -1;
        const refers = ['repeat', 'conflict'].includes(arrivalKindAt(plan, index));
        if (refers ? request >= index || plan.user[request] !== plan.user[index] : request !== index) return false;
        if (refers && !['fresh', 'same-user'].includes(arrivalKindAt(plan, request))) return false;
      }
      return true;
    }), { numRuns: 100 });
  });

  it('keeps counts and shares', () => {
    const constant = expandArrivalPlan(spec({ shape: { kind: 'constant' }, ratePerSecond: 333, durationMs: 3000 }));
    expect(constant.length).toBe(999);
    expect(constant.dueUs[998]).toBeCloseTo((998 * 1e6) / 333, 6);

    const mix = { repeatShare: 0.1, sameUserShare: 0.05, conflictShare: 0.02, malformedShare: 0.01, distinctUsers: null };
    const plan = expandArrivalPlan(spec({ ratePerSecond: 50_000, durationMs: 4000, mix }));
    // 200,000 ± 6 sigma.
    expect(Math.abs(plan.length - 200_000)).toBeLessThan(6 * Math.sqrt(200_000));
    const [fresh, repeat, sameUser, conflict, malformed] = countKinds(plan).map((count) => count / plan.length);
    expect(fresh).toBeCloseTo(0.82, 2);
    expect(repeat).toBeCloseTo(0.1, 2);
    expect(sameUser).toBeCloseTo(0.05, 2);
    expect(conflict).toBeCloseTo(0.02, 2);
    expect(malformed).toBeCloseTo(0.01, 2);
  });

  it('draws the whole rate inside a spike and the base share outside', () => {
    const plan = expandArrivalPlan(spec({ ratePerSecond: 20_000, durationMs: 3000, shape: { kind: 'spike', baseShare: 0.1, fromMs: 1000, toMs: 2000 } }));
    const inside = plan.dueUs.filter((due) => due >= 1e6 && due < 2e6).length;
    expect(Math.abs(inside - 20_000)).toBeLessThan(6 * Math.sqrt(20_000));
    expect(Math.abs(plan.length - inside - 4000)).toBeLessThan(6 * Math.sqrt(4000));
  });

  it('gives every fresh arrival a user of its own, or takes turns among the distinct users', () => {
    const own = expandArrivalPlan(spec());
    const fresh = [...own.kind].flatMap((kind, index) => (ARRIVAL_KINDS[kind] === 'fresh' ? [own.user[index]] : []));
    expect(new Set(fresh).size).toBe(fresh.length);
    const one = expandArrivalPlan(spec({ mix: { ...DEFAULT_MIX, repeatShare: 0, distinctUsers: 1 } }));
    expect(new Set(one.user)).toEqual(new Set([0]));
    expect(new Set(one.requestOf).size).toBe(one.length);
  });

  it('names users as BigInt arithmetic would', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 0xffffffff }), (ordinal) => {
      const plan: ArrivalPlan = { length: 1, dueUs: new Float64Array(1), kind: new Uint8Array(1), requestOf: new Uint32Array(1), user: Uint32Array.of(ordinal), permitOf: new Uint32Array(1) };
      return userIdAt(plan, 0) === String(9_007_199_254_741_000n + BigInt(ordinal));
    }));
    expect(requestIdAt(spec({ seed: 7 }), { ...expandArrivalPlan(spec()), requestOf: Uint32Array.of(42) }, 0)).toBe('r7-42');
  });

  it('draws bots by their shares, lets them replay permits of known users, and gives them few devices', () => {
    const bots = { noPermit: 0.2, forgedPermit: 0.1, expiredPermit: 0.05, replayedPermit: 0.05, devices: 7 };
    const load = spec({ ratePerSecond: 20_000, durationMs: 2_000, permits: { validForMs: 60_000, bots } });
    const plan = expandArrivalPlan(load);
    const shareOf = (kind: ArrivalKind): number => (countKinds(plan)[ARRIVAL_KINDS.indexOf(kind)] ?? 0) / plan.length;
    expect(shareOf('no-permit')).toBeCloseTo(0.2, 1);
    expect(shareOf('replayed-permit')).toBeCloseTo(0.05, 1);
    const devices = { bots: new Set<string>(), clients: new Set<string>() };
    for (let index = 0; index < plan.length; index += 1) {
      const kind = arrivalKindAt(plan, index);
      const isBot = BOT_KINDS.includes(kind);
      devices[isBot ? 'bots' : 'clients'].add(deviceIdAt(load, plan, index));
      const permit = plan.permitOf[index] ?? -1;
      if (kind === 'replayed-permit') {
        expect(permit).toBeLessThan(index);
        expect(plan.user[permit]).toBe(plan.user[index]);
        expect(plan.requestOf[index]).toBe(index);
      } else {
        expect(permit).toBe(plan.requestOf[index]);
      }
      // Nothing refers to what a bot sent.
      expect(isBot && plan.requestOf[index] !== index).toBe(false);
    }
    expect(devices.bots.size).toBe(7);
    expect(devices.clients.size).toBeGreaterThan(10_000);
    expect(sameBytes(expandArrivalPlan(spec()), expandArrivalPlan(spec({ permits: { validForMs: 1, bots: { ...bots, noPermit: 0, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0 } } })))).toBe(true);
  });

  it('expands three million arrivals', () => {
    const plan = expandArrivalPlan(spec({ ratePerSecond: 300_000, durationMs: 10_000 }));
    expect(plan.length).toBeGreaterThan(2_990_000);
    expect(plan.dueUs.buffer.byteLength).toBe(plan.length * 8);
  }, 30_000);
});
