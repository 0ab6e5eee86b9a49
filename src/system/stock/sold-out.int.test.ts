// What a gateway may rely on when Redis says "sold out": nobody is accepted while such a proof is good (lua/reserve_batch, field soldOut of meta).
import { expect, test } from 'vitest';

import { freshStock, request, SKU, type FreshStock } from './fresh-stock.test-support.js';
import type { ReserveDecision, ReserveRequest } from './stock-port.js';

const MARK_MS = 300;

async function decide({ stock }: FreshStock, ...requests: readonly ReserveRequest[]): Promise<readonly ReserveDecision[]> {
  const reply = await stock.reserve(SKU, requests);
  if (reply.outcome !== 'done') throw new Error(`reserve: ${reply.outcome}, ${reply.reason}`);
  return reply.decisions;
}
const one = async (fresh: FreshStock, id: number): Promise<ReserveDecision | undefined> => (await decide(fresh, request(`r${String(id)}`, String(id))))[0];
const standing = async ({ stock }: FreshStock) => {
  const result = await stock.view.standing(SKU);
  return result.outcome === 'done' ? result.value : result;
};

test('the batch that takes the last unit already tells the turn, and the refusals after it write nothing', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  expect(await standing(fresh)).toEqual({ stockLeft: 1, soldOutTurn: null, pendingCount: 0, acceptedCount: 0 });
  const decisions = await decide(fresh, request('r1', '1'), request('r2', '2'));
  expect(decisions.map(({ code }) => code)).toEqual(['RESERVED', 'SOLD_OUT']);
  expect(decisions[1]).toMatchObject({ stockLeft: 0, soldOut: { turn: '7:1', reopensInMs: 0, acceptedCount: 1 } });
  expect(await standing(fresh)).toEqual({ stockLeft: 0, soldOutTurn: '7:1', pendingCount: 1, acceptedCount: 1 });
  const before = await fresh.direct.hgetall(fresh.keys.meta);
  expect(await one(fresh, 3)).toMatchObject({ code: 'SOLD_OUT', soldOut: { turn: '7:1', reopensInMs: 0, acceptedCount: 1 } });
  expect(await fresh.direct.hgetall(fresh.keys.meta)).toEqual(before);
});

test('a stock that was empty from the start has a turn as well', async () => {
  await using fresh = await freshStock(0, { soldOutMarkMs: MARK_MS });
  expect(await one(fresh, 1)).toMatchObject({ code: 'SOLD_OUT', soldOut: { turn: '7:1', reopensInMs: 0 } });
});

test('units that come back wait for the time of a mark, from the first request on that could have had one', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  await one(fresh, 1);
  await one(fresh, 2);
  await fresh.direct.incrby(fresh.keys.stock, 1);
  const started = performance.now();
  const waiting = await one(fresh, 3);
  expect(waiting).toMatchObject({ code: 'SOLD_OUT', stockLeft: 1, soldOut: { turn: '7:1', reopensInMs: MARK_MS } });
  expect(await standing(fresh)).toMatchObject({ stockLeft: 1, soldOutTurn: null });
  // Repeats of the accepted are answered all the while.
  expect((await one(fresh, 1))?.code).toBe('REPEATED');
  await expect.poll(async () => (await one(fresh, 4))?.code, { interval: 10 }).toBe('RESERVED');
  expect(performance.now() - started).toBeGreaterThanOrEqual(MARK_MS - 5);
  expect(await one(fresh, 5)).toMatchObject({ code: 'SOLD_OUT', soldOut: { turn: '7:2', reopensInMs: 0 } });
});

test('a unit that is taken away again while it waits: the same turn goes on', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  await one(fresh, 1);
  await fresh.direct.incrby(fresh.keys.stock, 1);
  await one(fresh, 2);
  await fresh.direct.decrby(fresh.keys.stock, 1);
  expect(await one(fresh, 3)).toMatchObject({ code: 'SOLD_OUT', stockLeft: 0, soldOut: { turn: '7:1', reopensInMs: 0 } });
});

test('without marks nothing waits and nothing is noted', async () => {
  await using fresh = await freshStock(1);
  await one(fresh, 1);
  expect(await one(fresh, 2)).toMatchObject({ code: 'SOLD_OUT', stockLeft: 0, soldOut: null });
  await fresh.direct.incrby(fresh.keys.stock, 1);
  expect((await one(fresh, 3))?.code).toBe('RESERVED');
  expect(await fresh.direct.hget(fresh.keys.meta, 'soldOut')).toBeNull();
});

test('the accepted come in pages, whole', async () => {
  await using fresh = await freshStock(700, { soldOutMarkMs: MARK_MS });
  for (let from = 0; from < 700; from += 50) await decide(fresh, ...Array.from({ length: 50 }, (_value, index) => request(`r${String(from + index)}`, String(from + index + 1))));
  const seen = new Map<string, string | null>();
  let cursor = '0';
  let pages = 0;
  do {
    const page = await fresh.stock.view.accepted(SKU, cursor, 100);
    if (page.outcome !== 'done') throw new Error(page.reason);
    for (const { requestId, userId } of page.value.requests) seen.set(requestId, userId);
    cursor = page.value.nextCursor;
    pages += 1;
  } while (cursor !== '0');
  expect(seen.size).toBe(700);
  expect(seen.get('r699')).toBe('700');
  expect(pages).toBeGreaterThan(1);
});

test('a Redis that may not be believed is not sold out: paused, with units held back, or another server', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  await one(fresh, 1);
  expect(await standing(fresh)).toMatchObject({ soldOutTurn: '7:1' });
  await fresh.direct.hset(fresh.keys.meta, 'heldBack', '3');
  expect(await standing(fresh)).toMatchObject({ stockLeft: 0, soldOutTurn: null });
  await fresh.direct.hset(fresh.keys.meta, 'heldBack', '0');
  expect(await standing(fresh)).toMatchObject({ soldOutTurn: '7:1' });
  await fresh.direct.hset(fresh.keys.meta, 'status', 'paused');
  expect(await standing(fresh)).toMatchObject({ soldOutTurn: null });
  await fresh.direct.hset(fresh.keys.meta, 'status', 'open', 'runId', '0'.repeat(40));
  const fromElsewhere = await fresh.connect({ soldOutMarkMs: MARK_MS });
  expect(await fromElsewhere.view.standing(SKU)).toMatchObject({ outcome: 'done', value: { stockLeft: 0, soldOutTurn: null } });
});
