// The difference of three ledgers as a pure function: each kind, what is on its way, and the stock's error under live traffic.
import { describe, expect, test } from 'vitest';

import type { OrderMessage } from '../../domain/order-message.js';
import { packRecord, UNKNOWN_PAYLOAD_HASH } from '../stock/record-codec.js';
import type { StockRecord } from '../stock/stock-port.js';
import { confirmed, findDifferences } from './reconciliation-diff.js';
import type { DurableReservation, Look } from './reconciliation-ledgers.js';
import { planRebuild } from './rebuild-plan.js';
import { judgeMirror } from './rebuild-need.js';

const NOW_MS = 1_000_000;
const OLD_MS = NOW_MS - 60_000;
const GRACE_MS = 5_000;
const HASH = 'ab'.repeat(32);

const uuid = (number: number): string => `0197f1d0-0000-7000-8000-${String(number).padStart(12, '0')}`;

function record(number: number, change: Partial<StockRecord> = {}): StockRecord {
  return {
    requestId: `r${String(number)}`, userId: String(number), reservationId: uuid(number), messageId: uuid(1_000 + number), payloadHash: HASH, state: 'O', activityVersion: '1', purchaseNo: 1,
    reservedAtMs: OLD_MS, expiresAtMs: OLD_MS + 300_000, orderId: String(5_000 + number), reason: null, appliedVersion: 1, unitReturned: false, ...change,
  };
}

function row(number: number, change: Partial<DurableReservation> = {}): DurableReservation {
  return {
    reservationId: uuid(number), requestId: `r${String(number)}`, messageId: uuid(1_000 + number), userId: String(number), purchaseNo: 1, status: 10, orderId: String(5_000 + number), reason: null,
    version: 1, payloadHash: HASH, reservedAtMs: OLD_MS, expiresAtMs: OLD_MS + 300_000, changedAtMs: OLD_MS, hasUnsentEvent: false, hasRelease: false, ...change,
  };
}

function message(number: number): OrderMessage {
  return {
    schemaVersion: 1, messageId: uuid(1_000 + number), reservationId: uuid(number), requestId: `r${String(number)}`, activityId: '1', activityVersion: '1', skuId: '2', userId: String(number),
    purchaseNo: 1, quantity: 1, payloadHash: HASH, reservedAtMs: OLD_MS, expiresAtMs: OLD_MS + 300_000,
  };
}

interface World {
  readonly records?: readonly StockRecord[];
  readonly texts?: Readonly<Record<string, string>>;
  readonly users?: Readonly<Record<string, string>>;
  readonly pending?: readonly string[];
  readonly rows?: readonly DurableReservation[];
  readonly messages?: readonly number[];
  readonly inboxed?: readonly number[];
  readonly consumedUpTo?: number;
  readonly stock?: number;
  readonly stockAfter?: number;
  readonly recordsAfter?: number;
  readonly planned?: number;
  readonly rebuyAfterCancel?: boolean;
  readonly available?: number;
}

/** A look in which everything fits unless it is said otherwise: ten units, marks for who holds one, a message for each row. */
function look(world: World): Look {
  const records = world.records ?? [];
  const rows = world.rows ?? [];
  const texts = new Map([...records.map((each) => [each.requestId, packRecord(each)] as const), ...Object.entries(world.texts ?? {})]);
  const planned = world.planned ?? 10;
  const held = texts.size - records.filter(({ unitReturned }) => unitReturned).length;
  const stock = world.stock ?? planned - held;
  const out = rows.filter(({ status, hasRelease }) => status === 10 || status === 30 || (status === 40 && !hasRelease)).length;
  const counters = { stock, heldBack: 0, records: texts.size, epoch: 1, nowMs: NOW_MS };
  return {
    redis: {
      before: counters,
      after: { ...counters, stock: world.stockAfter ?? stock, records: world.recordsAfter ?? texts.size },
      records: texts,
      users: new Map(Object.entries(world.users ?? Object.fromEntries(records.filter(({ unitReturned }) => !unitReturned).map((each) => [each.userId, each.requestId])))),
      pending: new Set(world.pending ?? records.filter(({ state }) => state === 'P' || state === 'S').map(({ requestId }) => requestId)),
    },
    topic: {
      messages: new Map((world.messages ?? rows.map(({ userId }) => Number(userId))).map((number) => [uuid(number), { message: message(number), partition: 0, offset: BigInt(number) }])),
      committed: new Map([[0, BigInt(world.consumedUpTo ?? 1_000)]]), isWhole: true, lag: 0,
    },
    durable: {
      sku: { activityVersion: '1', startAtMs: 0, endAtMs: 9e12, unitPrice: '1', currency: 'CNY', isOnSale: true, rebuyAfterCancel: world.rebuyAfterCancel ?? false, plannedStock: planned, available: world.available ?? planned - out, allocated: out },
      reservations: rows,
    },
    inboxed: new Set((world.inboxed ?? []).map((number) => uuid(1_000 + number))),
  };
}

const kinds = (world: World): string[] => findDifferences(look(world), GRACE_MS).map(({ kind, subject }) => `${kind} ${subject}`);

describe('one look', () => {
  test('ledgers that agree have no differences', () => {
    expect(kinds({ records: [record(1), record(2, { state: 'R', unitReturned: true, orderId: null })], rows: [row(1), row(2, { status: 20, orderId: null })], users: { 1: 'r1' } })).toEqual([]);
  });

  test.each<[string, World, string[]]>([
    ['an order that Redis lost', { rows: [row(1)] }, ['order-without-redis-record r1']],
    ['a refusal that Redis lost', { rows: [row(1, { status: 20, orderId: null })] }, ['ended-row-without-redis-record r1']],
    ['a record that cannot be read', { rows: [row(1)], texts: { r1: 'x' }, users: { 1: 'r1' } }, ['redis-record-damaged r1']],
    ['a result that never reached Redis', { rows: [row(1)], records: [record(1, { state: 'S', orderId: null, appliedVersion: 0 })] }, ['redis-state-behind r1']],
    ['a release that never reached Redis', { rows: [row(1, { status: 40, hasRelease: true, version: 2 })], records: [record(1)] }, ['released-in-pg-held-in-redis r1']],
    ['a unit given back that is held', { rows: [row(1)], records: [record(1, { unitReturned: true })], users: { 1: 'r1' } }, ['held-in-pg-returned-in-redis r1']],
    ['an order that PostgreSQL does not know', { records: [record(1)] }, ['redis-order-without-row r1']],
    ['a reservation that nobody would send', { records: [record(1, { state: 'P', orderId: null })], pending: [] }, ['redis-record-without-message r1']],
    ['one whose message is in the topic', { records: [record(1, { state: 'P', orderId: null })], pending: [], messages: [1], consumedUpTo: 0 }, ['pending-entry-missing r1']],
    ['an entry of nobody', { pending: ['ghost'] }, ['pending-entry-orphan ghost']],
    ['a message that left nothing', { messages: [1] }, [`message-without-row ${uuid(1)}`]],
    ['a row that no message explains', { rows: [row(1)], records: [record(1)], messages: [] }, ['row-without-message r1']],
    ['a record under another message id', { rows: [row(1)], records: [record(1, { messageId: uuid(9) })] }, ['ids-disagree r1']],
    ['a record of another user', { rows: [row(1)], records: [record(1, { userId: '9' })], users: { 9: 'r1' } }, ['ids-disagree r1']],
    ['a message under another message id than its row', { rows: [row(1, { messageId: uuid(9) })], records: [record(1, { messageId: uuid(9) })] }, ['ids-disagree r1']],
    ['a lost mark', { rows: [row(1)], records: [record(1)], users: {} }, ['user-mark-missing r1']],
    ['a mark of nobody', { users: { 9: 'ghost' } }, ['user-mark-orphan 9']],
    ['the mark of who was refused', { rows: [row(1, { status: 20, orderId: null })], records: [record(1, { state: 'R', orderId: null, unitReturned: true })], users: { 1: 'r1' } }, ['user-mark-left r1']],
    ['the mark of who cancelled and may buy again', { rebuyAfterCancel: true, rows: [row(1, { status: 40, version: 2, hasRelease: true })], records: [record(1, { state: 'L', appliedVersion: 2, unitReturned: true })], users: { 1: 'r1' } }, ['user-mark-left r1']],
    ['units too few', { stock: 8 }, ['stock-counter-off stock']],
    ['units too many', { stock: 12 }, ['stock-counter-off stock']],
    ['stock in PostgreSQL that does not add up', { rows: [row(1)], records: [record(1)], available: 10 }, ['inventory-counter-off inventory']],
    ['another reservation of the same request', { rows: [row(1)], records: [record(1, { reservationId: uuid(77), state: 'R', orderId: null, unitReturned: true })], users: {} }, ['redis-record-of-another-reservation r1']],
  ])('%s', (_name, world, expected) => {
    expect(kinds(world)).toEqual(expected);
  });

  test.each<[string, World]>([
    ['a young reservation without its entry', { records: [record(1, { state: 'P', orderId: null, reservedAtMs: NOW_MS - 100 })], pending: [] }],
    ['an entry of the index is the scanner\'s work', { records: [record(1, { state: 'P', orderId: null })] }],
    ['a row that changed just now', { rows: [row(1, { changedAtMs: NOW_MS - 100 })], records: [record(1, { state: 'S', orderId: null, appliedVersion: 0 })] }],
    ['a row whose event has not left', { rows: [row(1, { hasUnsentEvent: true })], records: [record(1, { state: 'S', orderId: null, appliedVersion: 0 })] }],
    ['a message that waits for the consumer', { messages: [1], consumedUpTo: 1 }],
    ['a message refused as a duplicate of a request', { messages: [1], inboxed: [1] }],
    ['Redis ahead of the snapshot', { rows: [row(1)], records: [record(1, { state: 'L', appliedVersion: 2, unitReturned: true })], users: { 1: 'r1' } }],
    ['a withdrawn unit stays taken', { rows: [row(1, { status: 40, version: 2 })], records: [record(1, { state: 'L', appliedVersion: 2 })] }],
    ['the mark of who cancelled stays where he may not buy again', { rows: [row(1, { status: 40, version: 2, hasRelease: true })], records: [record(1, { state: 'L', appliedVersion: 2, unitReturned: true })], users: { 1: 'r1' } }],
    ['the mark of his next purchase', { rebuyAfterCancel: true, rows: [row(1, { status: 40, version: 2, hasRelease: true })], records: [record(1, { state: 'L', appliedVersion: 2, unitReturned: true }), record(2, { userId: '1', state: 'P', orderId: null })], users: { 1: 'r2' } }],
    ['a mark whose release has not left', { rows: [row(1, { status: 20, orderId: null, hasUnsentEvent: true })], records: [record(1, { state: 'R', orderId: null, unitReturned: true })], users: { 1: 'r1' } }],
    ['a closed reservation never had a message', { rows: [row(1, { status: 50, orderId: null })], records: [record(1, { state: 'L', orderId: null, unitReturned: true })], users: {}, messages: [] }],
  ])('no difference: %s', (_name, world) => {
    expect(kinds(world)).toEqual([]);
  });

  test('reservations made while the records are read do not disturb the sum; returned units only widen what is sure', () => {
    expect(kinds({ stock: 10, stockAfter: 4, recordsAfter: 6 })).toEqual([]);
    // Two units came back in between, one is missing all the time: nothing is sure, so nothing is said.
    const moving = { records: [record(1, { state: 'R', unitReturned: true, orderId: null })], rows: [row(1, { status: 20, orderId: null })], users: {} };
    expect(kinds({ ...moving, stock: 9, stockAfter: 9 })).toEqual(['stock-counter-off stock']);
    expect(kinds({ ...moving, stock: 9, stockAfter: 11 })).toEqual([]);
  });

  test('only what two looks show in the same words counts', () => {
    const first = findDifferences(look({ rows: [row(1), row(2)] }), GRACE_MS);
    const second = findDifferences(look({ rows: [row(1), row(2, { version: 2 })] }), GRACE_MS);
    expect(confirmed(first, second).map(({ subject }) => subject)).toEqual(['r1']);
  });

  test('a record that is brought back takes its unit out of the stock again; a damaged one already does', () => {
    const repairOf = (world: World) => findDifferences(look(world), GRACE_MS)[0]?.repair;
    expect(repairOf({ rows: [row(1)], users: {} })).toMatchObject({ act: 'adjust', change: { stockDelta: -1, mark: { userId: '1', seen: null, becomes: 'r1' }, record: { seen: null } } });
    expect(repairOf({ rows: [row(1)], texts: { r1: 'x' }, users: { 1: 'r1' } })).toMatchObject({ change: { stockDelta: 0, mark: null, record: { seen: 'x' } } });
    expect(repairOf({ rows: [row(1, { status: 20, orderId: null })] })).toMatchObject({ change: { stockDelta: 0, mark: null } });
  });
});

describe('a rebuild', () => {
  const sku = { ...look({}).durable.sku, plannedStock: 10, available: 7 };
  const plan = (rows: readonly DurableReservation[], unfinished: readonly number[], survivors: readonly StockRecord[]) => planRebuild({ durable: { sku, reservations: rows }, unfinished: unfinished.map(message), survivors });

  test('orders keep their marks, the ended are free, and what is on its way keeps a unit back', () => {
    const rebuilt = plan([row(1), row(2, { status: 20, orderId: null }), row(3, { status: 30 })], [4], [record(5, { state: 'P', orderId: null })]);
    expect(Object.fromEntries([...rebuilt.records].map(([id, { state, unitReturned }]) => [id, `${state}${unitReturned ? ' free' : ''}`]))).toEqual({ r1: 'O', r2: 'R free', r3: 'O', r4: 'S', r5: 'P' });
    expect(Object.fromEntries(rebuilt.users)).toEqual({ 1: 'r1', 3: 'r3', 4: 'r4', 5: 'r5' });
    expect(rebuilt.pending).toEqual(['r4', 'r5']);
    expect(rebuilt).toMatchObject({ inFlight: 2, units: 5 });
  });

  test('PostgreSQL wins over a survivor of the same request, an order without a row goes back to the beginning, and a payload nobody knows fits all', () => {
    const rebuilt = plan([row(1, { payloadHash: null })], [], [record(1, { reservationId: uuid(77), state: 'S' }), record(2)]);
    expect(rebuilt.records.get('r1')).toMatchObject({ reservationId: uuid(1), payloadHash: UNKNOWN_PAYLOAD_HASH });
    expect(rebuilt.records.get('r2')).toMatchObject({ state: 'P', orderId: null });
    expect(rebuilt).toMatchObject({ inFlight: 1, units: 6 });
  });

  test('who cancelled and may not buy again keeps his mark; a later purchase holds it otherwise', () => {
    const cancelled = row(1, { status: 40, hasRelease: true });
    expect(plan([cancelled], [], []).users.get('1')).toBe('r1');
    const again = row(2, { userId: '1', purchaseNo: 2 });
    const rebuilt = planRebuild({ durable: { sku: { ...sku, rebuyAfterCancel: true }, reservations: [again, cancelled] }, unfinished: [], survivors: [] });
    expect(rebuilt.users.get('1')).toBe('r2');
  });

  test('never less than nothing is on sale', () => {
    expect(planRebuild({ durable: { sku: { ...sku, available: 1 }, reservations: [] }, unfinished: [message(1), message(2)], survivors: [] }).units).toBe(0);
  });
});

describe('is it the Redis that is known', () => {
  const state = { serverRunId: 'a', runId: 'a', epoch: 3, status: 'open', heldBack: 0, hasStock: true };
  const known = { epoch: 3, runId: 'a' };
  test.each([
    [{}, known, { verdict: 'known' }],
    [{ heldBack: 5 }, known, { verdict: 'reopening' }],
    [{}, 'none' as const, { verdict: 'new' }],
    [{ epoch: 4 }, known, { verdict: 'new' }],
    [{ runId: null, status: null, hasStock: false }, 'none' as const, { verdict: 'not-warm' }],
    [{ runId: null, status: null, hasStock: false }, known, { verdict: 'rebuild', cause: 'lost' }],
    [{ hasStock: false }, known, { verdict: 'rebuild', cause: 'lost' }],
    [{ serverRunId: 'b' }, known, { verdict: 'rebuild', cause: 'other-server' }],
    [{ epoch: 2 }, known, { verdict: 'rebuild', cause: 'older-epoch' }],
    [{ serverRunId: 'b', runId: 'b' }, known, { verdict: 'rebuild', cause: 'foreign-warm-up' }],
    [{ status: 'paused' }, known, { verdict: 'rebuild', cause: 'unfinished-rebuild' }],
  ])('%j, known %j', (change, remembered, expected) => {
    expect(judgeMirror({ ...state, ...change }, remembered)).toEqual(expected);
  });
});
