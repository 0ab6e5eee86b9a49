/** Permits that let one request in, and the ways in which one can let in two. */
import { describe, expect, it } from 'vitest';

import { arrivalKindAt, expandArrivalPlan, nonceAt, permitAt, requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { judged, missedIn, nth, tell, type BrokenWorld } from './broken-world.test-support.js';
import { edited, without, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

/** Half of the arrivals replay somebody's permit; the schedule is another one than that of the same world without bots, so the stores are given by hand. */
function withPermits(): { readonly facts: Facts; readonly owner: string; readonly replaying: string; readonly person: number } {
  const world = handWrittenFacts({ arrivals: 30, stock: 30, mix: { repeatShare: 0 } });
  const bots = { noPermit: 0, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0.5, devices: 3 };
  const load = { ...world.run.load, permits: { validForMs: 1_000, bots } };
  const plan = expandArrivalPlan(load);
  const replay = Array.from({ length: plan.length }, (_, index) => index).find((index) => permitAt(plan, index) !== index) ?? -1;
  if (replay < 0 || !world.redis.present || !world.kafka.present || !world.postgres.present || !world.history.present) throw new Error('a replay, and all stores');
  const root = permitAt(plan, replay);
  const [owner, replaying] = [requestIdAt(load, plan, root), requestIdAt(load, plan, replay)];
  const only = <T extends { readonly requestId: string }>(rows: readonly T[]): readonly T[] => rows.filter((row) => row.requestId === owner);
  const records = only(world.redis.value.records);
  const { columns } = world.history.value;
  const kept = { ...columns, outcome: columns.outcome.map((outcome, index) => (index === root ? outcome : 3)) };
  const facts: Facts = {
    ...world, run: { ...world.run, load },
    history: { present: true, value: { ...world.history.value, columns: kept, tellings: only(world.history.value.tellings) } },
    redis: { present: true, value: { ...world.redis.value, records, permits: records.map(({ userId, requestId }) => ({ userId, nonce: nonceAt(load, root), requestId })) } },
    kafka: { present: true, value: { ...world.kafka.value, orders: only(world.kafka.value.orders).map((record) => ({ ...record, partition: 0, offset: '0' })), ordersBounds: [{ partition: 0, beginOffset: '0', endOffset: '1', committedOffset: '1' }] } },
    postgres: { present: true, value: { ...world.postgres.value, orders: only(world.postgres.value.orders), reservations: only(world.postgres.value.reservations) } },
  };
  const person = Array.from({ length: plan.length }, (_, index) => index).find((index) => index !== root && arrivalKindAt(plan, index) === 'fresh') ?? -1;
  return { facts, owner, replaying, person };
}

const { facts: WORLD, replaying, person } = withPermits();

/** Somebody who is no bot hears that his permit is none. */
const turnedAway = (draft: Draft): void => { tell(draft, person, 'PERMIT_INVALID', 403); };

const PLAN = expandArrivalPlan(WORLD.run.load);
const spent = (draft: Draft, requestId: string): void => { draft.redis.permits.push({ userId: userIdAt(PLAN, person), nonce: nonceAt(WORLD.run.load, permitAt(PLAN, person)), requestId }); };

const CASES: readonly BrokenWorld[] = [
  { wrong: 'a second request let in with a permit that was shown before', judge: 'permit-once', claim: /let 2 requests in/, edit: (draft) => {
    draft.redis.records.push({ ...nth(draft.redis.records, 0), requestId: replaying, reservationId: 'ffffffff-0000-7000-8000-000000000001' });
  } },
  { wrong: 'the same, of which only PostgreSQL knows', judge: 'permit-once', claim: /let 2 requests in/, edit: (draft) => {
    draft.postgres.orders.push({ ...nth(draft.postgres.orders, 0), orderId: '1', requestId: replaying, reservationId: 'ffffffff-0000-7000-8000-000000000001' });
  } },
  { wrong: 'a request let in whose permit another had spent', judge: 'permit-once', claim: /had been spent by request/, edit: (draft) => { nth(draft.redis.permits, 0).requestId = replaying; } },
  { wrong: 'a person turned away although nobody had spent his permit', judge: 'permit-once', claim: /which nobody had spent, and was told PERMIT_INVALID/, edit: turnedAway },
  { wrong: 'a person turned away for a permit that his request had spent', judge: 'permit-once', claim: /which it had spent itself/, edit: (draft) => { turnedAway(draft); spent(draft, requestIdAt(WORLD.run.load, PLAN, person)); } },
  { wrong: 'a request let in whose permit nobody spent', judge: 'permit-once', claim: /nobody had spent it/, edit: (draft) => { draft.redis.permits = []; } },
];

describe('permit-once', () => {
  it('holds where each permit let one in', () => {
    expect(judged('permit-once', WORLD)).toMatchObject({ outcome: 'holds', note: expect.stringContaining('1 permits let somebody in') as string });
  });

  it('has nothing to say where nobody shows a permit', () => {
    expect(judged('permit-once', handWrittenFacts())).toMatchObject({ outcome: 'holds', checked: 0 });
  });

  it.each(CASES.map((broken) => [broken.wrong, broken] as const))('catches %s', (_, broken) => {
    expect(missedIn({ ...broken, world: WORLD })).toEqual([]);
  });

  it('excuses a page of the book that a proven failover took', () => {
    const verdict = judged('permit-once', edited(WORLD, (draft) => {
      draft.redis.permits = [];
      draft.faults.push({
        id: 'failover#1', name: 'redis-failover', options: {}, scheduledUs: 1, injectedUs: 1, healedUs: 2, prediction: '', proof: 'landed', observed: '', healed: true, healObserved: '', strikes: 1, strikesAsked: 1,
        hits: [], mayLose: { store: 'redis', fromUs: 1, toUs: 2 },
      });
    }));
    expect(verdict).toMatchObject({ outcome: 'holds', excused: 1 });
  });

  it.each<[string, (draft: Draft) => void]>([
    ['a person with whose permit a bot was faster', (draft) => { turnedAway(draft); spent(draft, replaying); }],
    ['a person whose time was over', (draft) => { turnedAway(draft); draft.history.columns.answeredUs[person] = (draft.history.columns.intendedUs[0] ?? 0) + 1_000_000; }],
    ['who could not show one', (draft) => { turnedAway(draft); Object.assign(draft.run.load, { transport: 'edge', edgeForm: 'binary' }); }],
    ['bots', (draft) => { tell(draft, PLAN.kind.findIndex((_, index) => arrivalKindAt(PLAN, index) === 'replayed-permit'), 'PERMIT_INVALID', 403); }],
  ])('has nothing against turning away %s', (_, edit) => {
    expect(judged('permit-once', edited(WORLD, edit)).outcome).toBe('holds');
  });

  it('is unknown where the book is missing', () => {
    expect(judged('permit-once', without(edited(WORLD, turnedAway), 'redis')).outcome).toBe('unknown');
  });
});
