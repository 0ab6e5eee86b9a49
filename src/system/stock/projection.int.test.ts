// Contracts of mark_sent, claim_pending, apply_projection and warm_up on a real Redis, in every branch.
import { expect, test } from 'vitest';

import { freshStock, META, request, SKU, type FreshStock } from './fresh-stock.test-support.js';
import type { ProjectionReply, ProjectionUpdate, ReserveRequest, StockRecord } from './stock-port.js';

async function reserved(fresh: FreshStock, ...requests: readonly ReserveRequest[]): Promise<void> {
  const reply = await fresh.stock.reserve(SKU, requests);
  if (reply.outcome !== 'done' || !reply.decisions.every(({ code }) => code === 'RESERVED')) throw new Error(JSON.stringify(reply));
}

async function recordOf(fresh: FreshStock, requestId: string): Promise<StockRecord> {
  const found = await fresh.stock.lookup(SKU, requestId);
  if (found.outcome !== 'done' || found.record === null) throw new Error(`${requestId}: ${JSON.stringify(found)}`);
  return found.record;
}

function update(of: ReserveRequest, change: Partial<ProjectionUpdate>): ProjectionUpdate {
  const { requestId, reservationId, userId } = of;
  const returnsUnit = change.returnsUnit ?? false;
  return { requestId, reservationId, userId, state: 'O', orderId: null, reason: null, version: 1, returnsUnit, clearsUserMark: returnsUnit, ...change };
}

const done = (applied: 'applied' | 'stale' | 'unknown-record', unitReturned = false): ProjectionReply => ({ outcome: 'done', applied, unitReturned });

test('a result is written, leaves the pending index, and moves no unit', async () => {
  await using fresh = await freshStock(1);
  const won = request('r1', '1');
  await reserved(fresh, won);
  const replies = await fresh.stock.project(SKU, [update(won, { orderId: '9223372036854775807' })]);
  expect(replies).toEqual([done('applied')]);
  expect(await recordOf(fresh, 'r1')).toMatchObject({ state: 'O', orderId: '9223372036854775807', appliedVersion: 1, unitReturned: false });
  expect(await fresh.direct.zcard(fresh.keys.pending)).toBe(0);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
  expect(await fresh.direct.hexists(fresh.keys.users, '1')).toBe(1);
});

test('a release gives the unit back and clears the mark, once, however often it comes', async () => {
  await using fresh = await freshStock(1);
  const lost = request('r1', '1');
  await reserved(fresh, lost);
  const release = update(lost, { state: 'R', reason: 'REJECTED_NO_FINAL_STOCK', version: 2, returnsUnit: true });
  expect(await fresh.stock.project(SKU, [release, release])).toEqual([done('applied', true), done('stale')]);
  expect(await fresh.stock.project(SKU, [release, { ...release, version: 3 }])).toEqual([done('stale'), done('applied')]);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('1');
  expect(await fresh.direct.hlen(fresh.keys.users)).toBe(0);
  expect(await recordOf(fresh, 'r1')).toMatchObject({ state: 'R', reason: 'REJECTED_NO_FINAL_STOCK', unitReturned: true });
});

test('the mark stays when it belongs to a newer request of the user', async () => {
  await using fresh = await freshStock(2);
  const first = request('r1', '1');
  await reserved(fresh, first);
  await fresh.direct.hset(fresh.keys.users, '1', 'r2');
  await fresh.stock.project(SKU, [update(first, { state: 'L', returnsUnit: true })]);
  expect(await fresh.direct.hget(fresh.keys.users, '1')).toBe('r2');
});

test('a withdrawn unit stays out of the stock; where the rules keep the mark, the user has had his one', async () => {
  await using fresh = await freshStock(2);
  const [kept, cleared] = [request('r1', '1'), request('r2', '2')];
  await reserved(fresh, kept, cleared);
  const end = { state: 'L', returnsUnit: false, reason: 'PAY_TIMEOUT' } as const;
  await fresh.stock.project(SKU, [update(kept, end), update(cleared, { ...end, clearsUserMark: true })]);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
  expect(await fresh.direct.hgetall(fresh.keys.users)).toEqual({ 1: 'r1' });
  // A returned unit does not take the mark with it by itself.
  await fresh.stock.project(SKU, [update(kept, { ...end, returnsUnit: true, clearsUserMark: false, version: 2 })]);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('1');
  expect(await fresh.direct.hlen(fresh.keys.users)).toBe(1);
});

test('the request id stays spent after a release, and the user may reserve again under a new one', async () => {
  await using fresh = await freshStock(1);
  const first = request('r1', '1');
  await reserved(fresh, first);
  await fresh.stock.project(SKU, [update(first, { state: 'L', returnsUnit: true })]);
  expect(await fresh.stock.reserve(SKU, [request('r1', '1'), request('r2', '1')])).toMatchObject({
    decisions: [{ code: 'REPEATED', record: { state: 'L' } }, { code: 'RESERVED' }],
  });
});

test('shuffled events end in the same state; an overtaken release still returns its unit (C25)', async () => {
  const created = { state: 'O', version: 1, orderId: '5' } as const;
  const cancelled = { state: 'L', version: 2, orderId: '5', returnsUnit: true, reason: 'PAY_TIMEOUT' } as const;
  const noted = { state: 'L', version: 3, orderId: '5', reason: 'REFUNDED' } as const;
  const ends = new Set<string>();
  for (const order of [[created, cancelled, noted], [noted, cancelled, created], [cancelled, created, noted], [noted, created, cancelled], [created, noted, cancelled], [cancelled, noted, created]]) {
    await using fresh = await freshStock(1);
    const bought = { ...request('r1', '1'), reservationId: 'same', messageId: 'same' };
    await reserved(fresh, bought);
    for (const change of order) await fresh.stock.project(SKU, [update(bought, change)]);
    ends.add(JSON.stringify([await recordOf(fresh, 'r1'), await fresh.direct.get(fresh.keys.stock), await fresh.direct.hlen(fresh.keys.users)]));
  }
  expect([...ends]).toHaveLength(1);
  expect([...ends][0]).toContain('"state":"L"');
  expect([...ends][0]).toContain('"1",0]');
});

test('an unknown record, or another reservation under that request id, never increments', async () => {
  await using fresh = await freshStock(3);
  const there = request('r1', '1');
  await reserved(fresh, there);
  await fresh.direct.hset(fresh.keys.requests, 'damaged', 'not a record');
  const replies = await fresh.stock.project(SKU, [
    update(request('nobody', '2'), { state: 'L', returnsUnit: true }),
    update({ ...there, reservationId: 'another' }, { state: 'L', returnsUnit: true }),
    update(request('damaged', '3'), { state: 'L', returnsUnit: true }),
  ]);
  expect(replies).toEqual([done('unknown-record'), done('unknown-record'), done('unknown-record')]);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('2');
  expect(await recordOf(fresh, 'r1')).toMatchObject({ state: 'P', appliedVersion: 0 });
});

test('a release does not make a stock out of a missing key', async () => {
  await using fresh = await freshStock(1);
  const lost = request('r1', '1');
  await reserved(fresh, lost);
  await fresh.direct.del(fresh.keys.stock);
  expect(await fresh.stock.project(SKU, [update(lost, { state: 'L', returnsUnit: true })])).toEqual([done('applied')]);
  expect(await fresh.direct.exists(fresh.keys.stock)).toBe(0);
  expect(await recordOf(fresh, 'r1')).toMatchObject({ state: 'L', unitReturned: false });
});

test('more updates than one call takes are applied in order', async () => {
  await using fresh = await freshStock(600);
  const requests = Array.from({ length: 600 }, (_, index) => request(`r${String(index)}`, String(index + 1)));
  for (let start = 0; start < 600; start += 60) await reserved(fresh, ...requests.slice(start, start + 60));
  const replies = await fresh.stock.project(SKU, requests.map((one) => update(one, { state: 'L', returnsUnit: true })));
  expect(replies).toHaveLength(600);
  expect(replies.every((reply) => reply.outcome === 'done' && reply.unitReturned)).toBe(true);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('600');
});

test('mark sent: pending becomes sent and comes due later; the rest is left alone', async () => {
  await using fresh = await freshStock(3, { resendAfterMs: 10, recheckSentAfterMs: 60_000 });
  const [a, b] = [request('a', '1'), request('b', '2')];
  await reserved(fresh, a, b);
  await fresh.stock.project(SKU, [update(b, {})]);
  const before = Number(await fresh.direct.zscore(fresh.keys.pending, 'a'));
  expect(await fresh.stock.markSent(SKU, ['a', 'b', 'nobody'])).toBe('done');
  expect(await recordOf(fresh, 'a')).toMatchObject({ state: 'S', reservationId: a.reservationId });
  expect(await recordOf(fresh, 'b')).toMatchObject({ state: 'O' });
  expect(Number(await fresh.direct.zscore(fresh.keys.pending, 'a')) - before).toBeGreaterThan(50_000);
  expect(await fresh.direct.zscore(fresh.keys.pending, 'b')).toBeNull();
  expect(await fresh.stock.markSent(SKU, [])).toBe('done');
});

test('claim: only what is due, in bounded pages, once per lease', async () => {
  await using fresh = await freshStock(10, { resendAfterMs: 0 });
  await reserved(fresh, ...['1', '2', '3', '4', '5'].map((user) => request(`r${user}`, user)));
  const later = await fresh.connect({ resendAfterMs: 60_000 });
  await later.reserve(SKU, [request('later', '9')]);

  const first = await fresh.stock.claimPending(SKU, 60_000, 3);
  const second = await fresh.stock.claimPending(SKU, 60_000, 3);
  const third = await fresh.stock.claimPending(SKU, 60_000, 3);
  expect(first).toMatchObject({ outcome: 'done', pendingCount: 6, orphans: [] });
  expect(first.records).toHaveLength(3);
  expect([...first.records, ...second.records].map(({ requestId }) => requestId).sort()).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
  expect(third.records).toEqual([]);
  const [seconds] = await fresh.direct.time();
  expect(Math.abs(first.nowMs - Number(seconds) * 1_000)).toBeLessThan(5_000);
});

test('claim: two scanners at once never get the same record', async () => {
  await using fresh = await freshStock(300, { resendAfterMs: 0 });
  const other = await fresh.connect();
  for (let start = 0; start < 300; start += 60) {
    await reserved(fresh, ...Array.from({ length: 60 }, (_, index) => request(`r${String(start + index)}`, String(start + index + 1))));
  }
  const pages = await Promise.all(Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? fresh.stock : other).claimPending(SKU, 60_000, 25)));
  const claimed = pages.flatMap(({ records }) => records.map(({ requestId }) => requestId));
  expect(claimed).toHaveLength(300);
  expect(new Set(claimed).size).toBe(300);
});

test('claim: a lease that ran out is claimed again; finished entries are swept, lost ones reported and kept', async () => {
  await using fresh = await freshStock(5, { resendAfterMs: 0 });
  await reserved(fresh, request('live', '1'), request('lost', '2'), request('finished', '3'));
  await fresh.direct.hdel(fresh.keys.requests, 'lost');
  const finished = await fresh.direct.hget(fresh.keys.requests, 'finished');
  await fresh.direct.hset(fresh.keys.requests, 'finished', `O${(finished ?? '').slice(1)}`);

  for (const round of [1, 2]) {
    const claim = await fresh.stock.claimPending(SKU, 0, 10);
    expect(claim.records.map(({ requestId }) => requestId), String(round)).toEqual(['live']);
    expect(claim.orphans, String(round)).toEqual(['lost']);
  }
  expect(await fresh.direct.zrange(fresh.keys.pending, '0', '-1')).toEqual(['live', 'lost']);
});

test('warm-up writes once, and refuses to open over leftovers', async () => {
  await using fresh = await freshStock(null);
  const what = { stock: 5, meta: META };
  expect(await fresh.stock.warmUp(SKU, what)).toEqual({ outcome: 'done', value: { status: 'written', epoch: '7' } });
  await reserved(fresh, request('r1', '1'));
  expect(await fresh.stock.warmUp(SKU, { stock: 9, meta: { ...META, epoch: '8' } })).toEqual({ outcome: 'done', value: { status: 'already-there', epoch: '7' } });
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('4');

  await fresh.direct.del(fresh.keys.stock);
  expect(await fresh.stock.warmUp(SKU, what)).toEqual({ outcome: 'done', value: { status: 'leftovers', epoch: '7' } });
  await fresh.direct.del(fresh.keys.meta);
  expect(await fresh.stock.warmUp(SKU, what)).toEqual({ outcome: 'done', value: { status: 'leftovers', epoch: '' } });
  expect(await fresh.direct.exists(fresh.keys.stock)).toBe(0);
});

test('warm-up sets no time to live and stores the run id of the server', async () => {
  await using fresh = await freshStock(5);
  for (const key of [fresh.keys.stock, fresh.keys.meta]) expect(await fresh.direct.pttl(key)).toBe(-1);
  expect(await fresh.direct.hget(fresh.keys.meta, 'runId')).toBe(/run_id:(\w+)/.exec(await fresh.direct.info('server'))?.[1]);
  await expect(fresh.stock.warmUp({ ...SKU, skuId: '9' }, { stock: -1, meta: META })).resolves.toMatchObject({ outcome: 'unknown' });
});

test('all records can be read page by page', async () => {
  await using fresh = await freshStock(200);
  for (let start = 0; start < 200; start += 50) {
    await reserved(fresh, ...Array.from({ length: 50 }, (_, index) => request(`r${String(start + index)}`, String(start + index + 1))));
  }
  await fresh.direct.hset(fresh.keys.requests, 'damaged', 'x');
  const found = new Set<string>();
  const damaged = new Set<string>();
  for (let cursor = '0', more = true; more; more = cursor !== '0') {
    const page = await fresh.stock.scanRecords(SKU, cursor, 40);
    if (page.outcome !== 'done') throw new Error(page.reason);
    for (const { requestId } of page.value.records) found.add(requestId);
    for (const requestId of page.value.damaged) damaged.add(requestId);
    cursor = page.value.nextCursor;
  }
  expect(found.size).toBe(200);
  expect([...damaged]).toEqual(['damaged']);
  expect(await fresh.stock.lookup(SKU, 'damaged')).toMatchObject({ outcome: 'unknown' });
  expect(await fresh.stock.lookup(SKU, 'nobody')).toEqual({ outcome: 'done', record: null });
});
