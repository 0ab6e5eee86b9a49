/**
 * Every judge of the registry has facts, written by hand, of which it says holds, violated and unknown. One plain case each; the other tests of this folder go on from
 * there. A judge that is added without all three fails here.
 */
import { describe, expect, it } from 'vitest';

import { nonceAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { found, judged, LIVES, nth, openOrder, tell, TOKEN } from './broken-world.test-support.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { INVARIANTS } from './registry.js';

interface Example {
  readonly world: Facts;
  readonly violated: (draft: Draft) => void;
  readonly unknown: (draft: Draft) => void;
}

type Edit = (draft: Draft) => void;

/** A log that tells of an order that nobody finds. */
const strangeLog: Edit = (draft) => { draft.commitLog.transactions.push({ ...nth(draft.commitLog.transactions, 0), changes: [] }); };
const tornHistory: Edit = (draft) => { Object.assign(draft.history, { complete: false, problems: ['index 3 twice'] }); };
const notDrained: Edit = (draft) => { draft.settle.drainedUs = null; };
const stillMoving: Edit = (draft) => { draft.settle.quiesced = false; };
const notRead: Edit = (draft) => { draft.kafka.malformed.push({ topic: 'hand.orders', partition: 0, offset: '900', problem: 'not JSON' }); };

/** Redis is away for the whole storm. */
const redisAway: Edit = (draft) => {
  draft.faults.push({
    id: 'redis-down#1', name: 'redis-down', options: {}, scheduledUs: 1_000_000_000, injectedUs: 999_000_000, healedUs: 1_900_000_000, prediction: '', proof: 'landed', observed: '', healed: true,
    healObserved: '', strikes: 1, strikesAsked: 1, hits: [], mayLose: null,
  });
};

/** One buyer, and the draw that let him in. */
const DRAWN: Facts = ((): Facts => {
  const world = handWrittenFacts({ arrivals: 5, stock: 1 });
  const requestId = world.redis.present ? (world.redis.value.records[0]?.requestId ?? '') : '';
  const draw = { gateway: 'gateway-1', round: 'gateway-1/1/1', skuId: '70', seed: 7, places: 3, drawnAtMs: 0, entered: [requestId], drawn: [requestId] };
  return { ...world, run: { ...world.run, waitingRoom: { seed: 7, places: 3 } }, lottery: { present: true, value: [draw] } };
})();

/** Buyers with a permit each, all of them spent by who shows it. */
const PERMITS: Facts = ((): Facts => {
  const bots = { noPermit: 0, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0, devices: 1 };
  const world = handWrittenFacts({ arrivals: 5, stock: 2 });
  const load = { ...world.run.load, permits: { validForMs: 1_000, bots } };
  if (!world.redis.present) throw new Error('Redis is there');
  const permits = world.redis.value.records.map(({ userId, requestId }) => ({ userId, nonce: nonceAt(load, Number(requestId.slice(3))), requestId }));
  return { ...world, run: { ...world.run, load }, redis: { present: true, value: { ...world.redis.value, permits } } };
})();

const EXAMPLES: Readonly<Record<string, Example>> = {
  'no-oversell': { world: TOKEN, violated: (draft) => { draft.run.stock = 3; }, unknown: strangeLog },
  'one-order-per-user': { world: TOKEN, violated: (draft) => { nth(draft.postgres.orders, 1).userId = nth(draft.postgres.orders, 0).userId; }, unknown: strangeLog },
  'one-answer-per-request': {
    world: TOKEN, violated: (draft) => { found(draft.history.tellings, (telling) => telling.code === 'ORDERED').reservationId = 'ffffffff-0000-7000-8000-000000000001'; }, unknown: tornHistory,
  },
  'honest-answers': { world: TOKEN, violated: (draft) => { tell(draft, 39, 'QUEUED', 202, 'ffffffff-0000-7000-8000-000000000001'); }, unknown: strangeLog },
  'no-lost-reservation': { world: TOKEN, violated: (draft) => { draft.postgres.orders.shift(); }, unknown: notRead },
  'no-phantom-order': { world: TOKEN, violated: (draft) => { openOrder(draft).requestId = 'r5-99999'; }, unknown: tornHistory },
  'stock-conservation': { world: TOKEN, violated: (draft) => { draft.postgres.tokens.pop(); }, unknown: strangeLog },
  'ledger-balanced': { world: TOKEN, violated: (draft) => { draft.postgres.ledger.shift(); }, unknown: stillMoving },
  'redis-conservation': { world: TOKEN, violated: (draft) => { draft.redis.stock = (draft.redis.stock ?? 0) + 1; }, unknown: notDrained },
  'stable-message-id': { world: TOKEN, violated: (draft) => { openOrder(draft).sourceMessageId = 'ffffffff-0000-7000-8000-000000000001'; }, unknown: (draft) => { draft.redis.problems.push('a field that nobody can read'); } },
  'inbox-once': { world: TOKEN, violated: (draft) => { draft.postgres.inbox.shift(); }, unknown: notRead },
  'outbox-complete': { world: TOKEN, violated: (draft) => { nth(draft.postgres.outbox, 0).status = 40; }, unknown: (draft) => { notDrained(draft); nth(draft.postgres.outbox, 0).status = 0; } },
  'legal-state-path': { world: LIVES, violated: (draft) => { draft.commitLog.transactions.splice(-1, 1, { ...nth(draft.commitLog.transactions, -1), changes: [{ table: 'orders', kind: 'delete', row: { order_id: nth(draft.postgres.orders, 0).orderId } }] }); }, unknown: strangeLog },
  'release-once': { world: LIVES, violated: (draft) => { draft.postgres.ledger.push({ ...found(draft.postgres.ledger, (entry) => entry.type === 20), ledgerId: '1', idempotencyKey: 'again' }); }, unknown: strangeLog },
  'paid-never-cancelled': { world: LIVES, violated: (draft) => { found(draft.postgres.orders, (order) => order.status === 40).paidAtUs = 1; }, unknown: strangeLog },
  'money-accounted': { world: LIVES, violated: (draft) => { draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), refundId: 'again' }); }, unknown: (draft) => { draft.channel.charges.push({ ...nth(draft.channel.charges, 0), paymentId: null, tradeNo: 't-unheard' }); } },
  'dead-letters-accounted': { world: LIVES, violated: (draft) => { draft.postgres.deadLetters.pop(); }, unknown: notRead },
  'fail-closed': { world: TOKEN, violated: redisAway, unknown: tornHistory },
  'admission-bounded': { world: TOKEN, violated: (draft) => { for (const record of draft.kafka.orders) record.appendedAtMs -= 60_000; }, unknown: strangeLog },
  'permit-once': { world: PERMITS, violated: (draft) => { nth(draft.redis.permits, 0).requestId = 'r1-3'; }, unknown: stillMoving },
  'lottery-kept': { world: DRAWN, violated: (draft) => { draft.lottery.pop(); }, unknown: stillMoving },
  'no-undersell': { world: TOKEN, violated: (draft) => { draft.run.stock = 1_000; draft.postgres.orders.pop(); }, unknown: (draft) => { notDrained(draft); draft.run.stock = 1_000; draft.postgres.orders.pop(); } },
};

it('every judge of the registry is here, and no other', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(INVARIANTS.map((invariant) => invariant.name).sort());
});

describe.each(Object.entries(EXAMPLES))('%s', (name, { world, violated, unknown }) => {
  it('holds', () => {
    expect(judged(name, world).outcome).toBe('holds');
  });

  it('is violated, with a witness and its story', () => {
    const verdict = judged(name, edited(world, violated));
    expect(verdict.outcome).toBe('violated');
    expect(verdict.first?.claim).toMatch(/^\S.*\.$/);
    expect(verdict.worst).not.toBeNull();
  });

  it('is unknown, and says why', () => {
    const verdict = judged(name, edited(world, unknown));
    expect([verdict.outcome, verdict.violations === 0 || verdict.note !== '']).toEqual(['unknown', true]);
  });
});
