// Property: whatever sequence of reserve, mark sent, claim and project happens, units are conserved and no user holds two.
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { freshStock, request, SKU, type FreshStock } from './fresh-stock.test-support.js';
import { unpackRecord } from './record-codec.js';
import type { ProjectionUpdate, StockRecord } from './stock-port.js';

const UNITS = 4;
const requestNumber = fc.integer({ min: 1, max: 9 });
const userNumber = fc.integer({ min: 1, max: 6 });

type Action =
  | { readonly kind: 'reserve'; readonly asks: readonly { readonly id: number; readonly user: number; readonly hash: string }[] }
  | { readonly kind: 'mark'; readonly ids: readonly number[] }
  | { readonly kind: 'claim' }
  | { readonly kind: 'project'; readonly updates: readonly { readonly id: number; readonly state: 'O' | 'R' | 'L'; readonly version: number; readonly known: boolean }[] };

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({
    kind: fc.constant('reserve' as const),
    asks: fc.array(fc.record({ id: requestNumber, user: userNumber, hash: fc.constantFrom('a', 'b') }), { minLength: 1, maxLength: 8 }),
  }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark' as const), ids: fc.array(requestNumber, { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('claim' as const) }) },
  { weight: 3, arbitrary: fc.record({
    kind: fc.constant('project' as const),
    updates: fc.array(fc.record({ id: requestNumber, state: fc.constantFrom('O' as const, 'R' as const, 'L' as const), version: fc.integer({ min: 1, max: 4 }), known: fc.boolean() }), { minLength: 1, maxLength: 6 }),
  }) },
);

async function act(fresh: FreshStock, action: Action): Promise<void> {
  if (action.kind === 'mark') {
    await fresh.stock.markSent(SKU, action.ids.map((id) => `r${String(id)}`));
  } else if (action.kind === 'claim') {
    await fresh.stock.claimPending(SKU, 0, 10);
  } else if (action.kind === 'reserve') {
    await checkReserve(fresh, action);
  } else {
    const updates: ProjectionUpdate[] = [];
    for (const { id, state, version, known } of action.updates) {
      const found = await fresh.stock.lookup(SKU, `r${String(id)}`);
      const record = found.outcome === 'done' ? found.record : null;
      const reservationId = known && record !== null ? record.reservationId : randomUUID();
      updates.push({ requestId: `r${String(id)}`, userId: '1', reservationId, state, version, orderId: null, reason: null, returnsUnit: state !== 'O', clearsUserMark: state !== 'O' });
    }
    for (const reply of await fresh.stock.project(SKU, updates)) expect(reply.outcome).toBe('done');
  }
}

/** Reserve and hold its answer to what was in the store before. */
async function checkReserve(fresh: FreshStock, action: Action & { kind: 'reserve' }): Promise<void> {
  const before = await recordsOf(fresh);
  const reply = await fresh.stock.reserve(SKU, action.asks.map(({ id, user, hash }) => request(`r${String(id)}`, String(user), hash)));
  if (reply.outcome !== 'done') throw new Error(reply.reason);
  const taken = new Set<string>();
  for (const [index, { code, record }] of reply.decisions.entries()) {
    const ask = action.asks[index];
    if (ask === undefined) throw new Error('more decisions than requests');
    const id = `r${String(ask.id)}`;
    const known = before.get(id);
    if (code === 'RESERVED') {
      expect(known).toBeUndefined();
      expect(taken.has(id)).toBe(false);
      taken.add(id);
    } else if (code === 'REPEATED') {
      expect(record).toMatchObject({ requestId: id, userId: String(ask.user) });
      if (known !== undefined) expect(record).toEqual(known);
    } else if (code === 'IDEMPOTENCY_CONFLICT') {
      expect(known !== undefined || taken.has(id)).toBe(true);
    }
  }
}

async function recordsOf({ direct, keys }: FreshStock): Promise<ReadonlyMap<string, StockRecord>> {
  const records = new Map<string, StockRecord>();
  for (const [id, text] of Object.entries(await direct.hgetall(keys.requests))) {
    const record = unpackRecord(id, text);
    if (record === null) throw new Error(`damaged: ${text}`);
    records.set(id, record);
  }
  return records;
}

async function checkConserved(fresh: FreshStock): Promise<void> {
  const records = [...(await recordsOf(fresh)).values()];
  const stock = Number(await fresh.direct.get(fresh.keys.stock));
  const holding = records.filter(({ unitReturned }) => !unitReturned);
  expect(stock).toBeGreaterThanOrEqual(0);
  expect(stock + holding.length).toBe(UNITS);

  const users = await fresh.direct.hgetall(fresh.keys.users);
  expect(new Set(holding.map(({ userId }) => userId)).size).toBe(holding.length);
  expect(users).toEqual(Object.fromEntries(holding.map(({ userId, requestId }) => [userId, requestId])));

  const pending = await fresh.direct.zrange(fresh.keys.pending, '0', '-1');
  expect(pending.sort()).toEqual(records.filter(({ state }) => state === 'P' || state === 'S').map(({ requestId }) => requestId).sort());
}

test('units are conserved, one per user, and the index holds exactly what has no result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { minLength: 1, maxLength: 25 }), async (sequence) => {
      await using fresh = await freshStock(UNITS, { resendAfterMs: 0 });
      for (const action of sequence) {
        await act(fresh, action);
        await checkConserved(fresh);
      }
    }),
    { numRuns: 60 },
  );
});
