// Contract of lua/reserve_batch-5.lua on a real Redis, in every branch.
import { expect, test } from 'vitest';

import { freshStock, META, request, SKU, type FreshStock } from './fresh-stock.test-support.js';
import { connectStock } from './redis-stock.js';
import type { ReserveDecision, ReserveRequest } from './stock-port.js';

async function decide({ stock }: FreshStock, ...requests: readonly ReserveRequest[]): Promise<readonly ReserveDecision[]> {
  const reply = await stock.reserve(SKU, requests);
  if (reply.outcome !== 'done') throw new Error(`reserve: ${reply.outcome}, ${reply.reason}`);
  return reply.decisions;
}

const codes = (decisions: readonly ReserveDecision[]): readonly string[] => decisions.map(({ code }) => code);

/** Everything the script may change, to show that it changed nothing. */
async function contents({ direct, keys }: FreshStock): Promise<unknown> {
  return Promise.all([direct.get(keys.stock), direct.hgetall(keys.requests), direct.hgetall(keys.users), direct.zrange(keys.pending, '0', '-1', 'WITHSCORES')]);
}

test('an accepted request takes one unit and leaves record, user mark and pending entry', async () => {
  await using fresh = await freshStock(2, { resendAfterMs: 1_000 });
  const asked = request('r1', '9007199254740993');
  const [decision] = await decide(fresh, asked);
  expect(decision).toMatchObject({ code: 'RESERVED', stockLeft: 1, record: { reservationId: asked.reservationId, state: 'P', activityVersion: '3' } });

  expect(await fresh.direct.get(fresh.keys.stock)).toBe('1');
  expect(await fresh.direct.hgetall(fresh.keys.users)).toEqual({ '9007199254740993': 'r1' });
  expect(await fresh.stock.lookup(SKU, 'r1')).toEqual({ outcome: 'done', record: decision?.record });
  const [seconds, micros] = await fresh.direct.time();
  const nowMs = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const due = Number(await fresh.direct.zscore(fresh.keys.pending, 'r1'));
  expect(due - nowMs).toBeGreaterThan(0);
  expect(due - nowMs).toBeLessThanOrEqual(1_000);
});

test('the same request again is the same reservation and takes nothing', async () => {
  await using fresh = await freshStock(2);
  const first = request('r1', '1');
  await decide(fresh, first);
  const before = await contents(fresh);
  // A client that sends again makes its gateway draw new ids; the stored ones win.
  const [again] = await decide(fresh, request('r1', '1'));
  expect(again).toMatchObject({ code: 'REPEATED', stockLeft: 1, record: { reservationId: first.reservationId, messageId: first.messageId } });
  expect(await contents(fresh)).toEqual(before);
});

test('a repeat is answered when sold out, too', async () => {
  await using fresh = await freshStock(1);
  await decide(fresh, request('r1', '1'));
  expect(codes(await decide(fresh, request('r2', '2'), request('r1', '1')))).toEqual(['SOLD_OUT', 'REPEATED']);
});

test('a request id of another user, or with another payload, is a conflict and shows no record', async () => {
  await using fresh = await freshStock(5);
  await decide(fresh, request('r1', '1', 'a'));
  const before = await contents(fresh);
  const decisions = await decide(fresh, request('r1', '2', 'a'), request('r1', '1', 'b'), request('r1', '11', 'a'));
  expect(codes(decisions)).toEqual(['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_CONFLICT']);
  expect(decisions.map(({ record }) => record)).toEqual([null, null, null]);
  expect(await contents(fresh)).toEqual(before);
});

test('a user who has one is told which, and takes nothing', async () => {
  await using fresh = await freshStock(5);
  const first = request('r1', '1');
  await decide(fresh, first);
  const before = await contents(fresh);
  const [refused] = await decide(fresh, request('r2', '1'));
  expect(refused).toMatchObject({ code: 'USER_HAS_ONE', record: { requestId: 'r1', reservationId: first.reservationId } });
  expect(await contents(fresh)).toEqual(before);
});

test('a user mark whose record was lost still refuses, without a record', async () => {
  await using fresh = await freshStock(5);
  await decide(fresh, request('r1', '1'));
  await fresh.direct.hdel(fresh.keys.requests, 'r1');
  expect(await decide(fresh, request('r2', '1'))).toMatchObject([{ code: 'USER_HAS_ONE', record: null }]);
});

test('repeats inside one batch: same request, same id of another user, same user', async () => {
  await using fresh = await freshStock(3);
  const first = request('r1', '1');
  const decisions = await decide(fresh, first, request('r1', '1'), request('r1', '2'), request('r2', '1'), request('r3', '3'));
  expect(codes(decisions)).toEqual(['RESERVED', 'REPEATED', 'IDEMPOTENCY_CONFLICT', 'USER_HAS_ONE', 'RESERVED']);
  expect(decisions[1]?.record).toEqual(decisions[0]?.record);
  expect(decisions[3]?.record).toEqual(decisions[0]?.record);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('1');
  expect(await fresh.direct.hlen(fresh.keys.requests)).toBe(2);
});

test('stock ends inside of a batch: the first in order get it', async () => {
  await using fresh = await freshStock(2);
  const decisions = await decide(fresh, ...['1', '2', '3', '4'].map((user) => request(`r${user}`, user)));
  expect(codes(decisions)).toEqual(['RESERVED', 'RESERVED', 'SOLD_OUT', 'SOLD_OUT']);
  expect(decisions.map(({ stockLeft }) => stockLeft)).toEqual([1, 0, 0, 0]);
});

test('sold out writes nothing at all, not even to the replication stream', async () => {
  await using fresh = await freshStock(0);
  // Everything that loads or warms a script is done before the offset is read.
  await decide(fresh, request('r0', '100'));
  const offset = async (): Promise<string | undefined> => /master_repl_offset:(\d+)/.exec(await fresh.direct.info('replication'))?.[1];
  const changes = async (): Promise<string | undefined> => /rdb_changes_since_last_save:(\d+)/.exec(await fresh.direct.info('persistence'))?.[1];
  const before = await contents(fresh);
  const changesBefore = await changes();
  expect(await offset()).toBeDefined();
  expect(codes(await decide(fresh, request('r1', '1'), request('r2', '2')))).toEqual(['SOLD_OUT', 'SOLD_OUT']);
  expect(await contents(fresh)).toEqual(before);
  expect(await changes()).toBe(changesBefore);
});

test('refusals are not remembered: the refused id may win later', async () => {
  await using fresh = await freshStock(0);
  expect(codes(await decide(fresh, request('r1', '1')))).toEqual(['SOLD_OUT']);
  await fresh.direct.incr(fresh.keys.stock);
  expect(codes(await decide(fresh, request('r1', '1')))).toEqual(['RESERVED']);
});

test.each(['stock', 'meta'] as const)('a missing %s key is NOT_READY for all, never SOLD_OUT, and writes nothing', async (key) => {
  await using fresh = await freshStock(5);
  await decide(fresh, request('r1', '1'));
  await fresh.direct.del(fresh.keys[key]);
  const before = await contents(fresh);
  // A repeat too: a Redis that lost its stock may have lost the record's siblings.
  expect(codes(await decide(fresh, request('r1', '1'), request('r2', '2')))).toEqual(['NOT_READY', 'NOT_READY']);
  expect(await contents(fresh)).toEqual(before);
});

test('nothing warmed up at all is NOT_READY on a fresh connection', async () => {
  await using fresh = await freshStock(null);
  expect(await decide(fresh, request('r1', '1'))).toEqual([{ code: 'NOT_READY', record: null, stockLeft: null, epoch: '-' }]);
});

test('an activity that is not open is NOT_READY', async () => {
  await using fresh = await freshStock(5);
  await fresh.direct.hset(fresh.keys.meta, 'status', 'stopped');
  expect(codes(await decide(fresh, request('r1', '1')))).toEqual(['NOT_READY']);
});

test('another epoch or activity version refuses once; then the connection has learnt it', async () => {
  await using fresh = await freshStock(5);
  await decide(fresh, request('r1', '1'));
  for (const [field, value] of [['epoch', '8'], ['activityVersion', '4']] as const) {
    await fresh.direct.hset(fresh.keys.meta, field, value);
    expect(codes(await decide(fresh, request('r2', '2'), request('r3', '3')))).toEqual(['EPOCH_MISMATCH', 'EPOCH_MISMATCH']);
    expect(codes(await decide(fresh, request(`q${value}`, `1${value}`)))).toEqual(['RESERVED']);
  }
});

test('a SKU that is being rebuilt says PAUSED, and so does one that holds units back when nothing is left', async () => {
  await using fresh = await freshStock(1);
  await fresh.direct.hset(fresh.keys.meta, 'status', 'paused');
  expect(codes(await decide(fresh, request('r1', '1')))).toEqual(['PAUSED']);
  await fresh.direct.hset(fresh.keys.meta, 'status', 'open', 'heldBack', '1');
  expect(codes(await decide(fresh, request('r1', '1'), request('r2', '2'), request('r1', '1')))).toEqual(['RESERVED', 'PAUSED', 'REPEATED']);
  await fresh.direct.hset(fresh.keys.meta, 'heldBack', '0');
  expect(codes(await decide(fresh, request('r3', '3')))).toEqual(['SOLD_OUT']);
});

test('an older state of the same server is PAUSED: a lower epoch, or none where there was one', async () => {
  await using fresh = await freshStock(5);
  await decide(fresh, request('r1', '1'));
  await fresh.direct.hset(fresh.keys.meta, 'epoch', '6');
  expect(codes(await decide(fresh, request('r2', '2')))).toEqual(['EPOCH_MISMATCH']);
  expect(codes(await decide(fresh, request('r2', '2')))).toEqual(['PAUSED']);
  await fresh.direct.del(fresh.keys.meta);
  expect(codes(await decide(fresh, request('r2', '2')))).toEqual(['PAUSED']);
  await fresh.direct.hset(fresh.keys.meta, 'epoch', '8');
  expect(codes(await decide(fresh, request('r2', '2')))).toEqual(['PAUSED']);
});

test('a server that is not the one that was warmed up is refused without being asked to reserve', async () => {
  await using fresh = await freshStock(5);
  await fresh.direct.hset(fresh.keys.meta, 'runId', '0'.repeat(40));
  const other = await fresh.connect();
  const before = await contents(fresh);
  const reply = await other.reserve(SKU, [request('r1', '1')]);
  expect(reply).toMatchObject({ outcome: 'done', decisions: [{ code: 'PAUSED' }] });
  expect(await contents(fresh)).toEqual(before);
});

/** Ten thousand requests in batches, eight calls at a time over two connections. */
async function stormOf(fresh: FreshStock, requests: readonly ReserveRequest[]): Promise<Readonly<Record<string, number>>> {
  const connections = [fresh.stock, await fresh.connect()];
  const counts: Record<string, number> = {};
  const batches = Array.from({ length: Math.ceil(requests.length / 64) }, (_, at) => requests.slice(at * 64, at * 64 + 64)).values();
  await Promise.all(Array.from({ length: 8 }, async (_, lane) => {
    for (const batch of batches) {
      const reply = await connections[lane % 2]?.reserve(SKU, batch);
      if (reply?.outcome !== 'done') throw new Error(reply?.reason ?? 'no connection');
      for (const { code } of reply.decisions) counts[code] = (counts[code] ?? 0) + 1;
    }
  }));
  return counts;
}

test('ten thousand users at once for 100 units: 100 reservations, one for each user and each request id', async () => {
  await using fresh = await freshStock(100);
  expect(await stormOf(fresh, Array.from({ length: 10_000 }, (_, index) => request(`storm-${String(index)}`, String(10_000 + index))))).toEqual({ RESERVED: 100, SOLD_OUT: 9_900 });
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
  const marks = await fresh.direct.hgetall(fresh.keys.users);
  const records = await fresh.direct.hkeys(fresh.keys.requests);
  expect([Object.keys(marks).length, records.length, new Set(Object.values(marks)).size]).toEqual([100, 100, 100]);
});

test('one user ten thousand times at once, each time with another request id: one reservation', async () => {
  await using fresh = await freshStock(100);
  expect(await stormOf(fresh, Array.from({ length: 10_000 }, (_, index) => request(`click-${String(index)}`, '7')))).toEqual({ RESERVED: 1, USER_HAS_ONE: 9_999 });
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('99');
});

test('repeat clicks do not eat stock: 500 requests of one user, then 99 others (C10)', async () => {
  await using fresh = await freshStock(100);
  const clicks = Array.from({ length: 500 }, (_, index) => request(`click-${String(index)}`, '1'));
  const others = Array.from({ length: 99 }, (_, index) => request(`other-${String(index)}`, String(1_000 + index)));
  const counts = new Map<string, number>();
  const all = [...clicks, ...others];
  for (let start = 0; start < all.length; start += 64) {
    for (const { code } of await decide(fresh, ...all.slice(start, start + 64))) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  expect(Object.fromEntries(counts)).toEqual({ RESERVED: 100, USER_HAS_ONE: 499 });
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
});

test('SCRIPT FLUSH in mid-load: no error reaches a caller and nothing is applied twice (C5)', async () => {
  await using fresh = await freshStock(2_000);
  const flushing = (async () => {
    for (let round = 0; round < 20; round += 1) await fresh.direct.script('FLUSH');
  })();
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, batch) =>
      fresh.stock.reserve(SKU, Array.from({ length: 10 }, (_unused, index) => request(`r${String(batch)}-${String(index)}`, String(batch * 10 + index + 1))))),
  );
  await flushing;
  const answers = replies.flatMap((reply) => (reply.outcome === 'done' ? codes(reply.decisions) : [reply.reason]));
  expect(new Set(answers)).toEqual(new Set(['RESERVED']));
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
  expect(await fresh.direct.zcard(fresh.keys.pending)).toBe(2_000);
});

test('a batch of 64 has 64 decisions; 65 or none is a bug', async () => {
  await using fresh = await freshStock(64);
  const requests = Array.from({ length: 65 }, (_, index) => request(`r${String(index)}`, String(index + 1)));
  expect(await decide(fresh, ...requests.slice(0, 64))).toHaveLength(64);
  await expect(fresh.stock.reserve(SKU, requests)).rejects.toThrow('1…64');
  await expect(fresh.stock.reserve(SKU, [])).rejects.toThrow('1…64');
});

test('before the connection stands, and after it is closed, nothing is done and nothing hangs', async () => {
  await using fresh = await freshStock(5);
  const early = connectStock(fresh.address, fresh.namespace);
  expect(await early.reserve(SKU, [request('r1', '1')])).toMatchObject({ outcome: 'surely-not-done' });
  expect(await early.whenConnected(5_000)).toBe(true);
  expect(await early.ready()).toBe(true);
  await early.close();
  expect(await early.reserve(SKU, [request('r1', '1')])).toMatchObject({ outcome: 'surely-not-done' });
  expect(await early.ready()).toBe(false);
});

test('meta is what warm-up wrote; null where nothing is warm', async () => {
  await using fresh = await freshStock(5);
  await using cold = await freshStock(null);
  expect(await fresh.stock.meta(SKU)).toMatchObject({ outcome: 'done', meta: META });
  expect(await cold.stock.meta(SKU)).toEqual({ outcome: 'done', meta: null });
});
