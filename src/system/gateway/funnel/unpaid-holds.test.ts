// The limit on unpaid holds: by user and by device, over all gateways, and how a holder becomes free again.
import { expect, test } from 'vitest';

import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableLookup } from '../../ledger/ledger-port.js';
import { memoryBook, type MemoryBook } from '../../stock/memory-book.test-support.js';
import { createRateLimit } from '../admission.js';
import type { ValidReservation } from '../validate.js';
import { aRequest, said } from './a-request.test-support.js';
import { createUnpaidHolds, type UnpaidHolds } from './unpaid-holds.js';

interface World {
  readonly book: MemoryBook;
  readonly asked: string[];
  readonly found: Map<string, DurableLookup>;
  readonly gateways: readonly Gateway[];
}

interface Gateway {
  readonly holds: UnpaidHolds;
  enter(request: ValidReservation): Promise<string>;
  /** Enters and is accepted, or ends without a reservation. */
  visit(request: ValidReservation, reserved?: boolean): Promise<string>;
}

function world(lookupsPerSecond = 1_000): World {
  const [book, asked, found] = [memoryBook(), [] as string[], new Map<string, DurableLookup>()];
  const gateway = (): Gateway => {
    const holds = createUnpaidHolds({
      activityId: '7', book, tuning: { perUser: 1, perDevice: 3 }, holdLastsMs: 10_000, reservationLastsMs: 4_000,
      reader: {
        lookup: (_sku, requestId) => {
          asked.push(requestId);
          return Promise.resolve(found.get(requestId) ?? { outcome: 'done', state: null });
        },
      },
      limit: createRateLimit(lookupsPerSecond, lookupsPerSecond, () => 0),
    });
    const enter = async (request: ValidReservation): Promise<string> => said(await holds.pass(request));
    return {
      holds,
      enter,
      async visit(request, reserved = true) {
        const verdict = await enter(request);
        if (verdict !== 'passed') return verdict;
        if (reserved) holds.accepted(request);
        holds.leave(request);
        await settled();
        return verdict;
      },
    };
  };
  return { book, asked, found, gateways: [gateway(), gateway()] };
}

const from = (requestId: string, userId: string, deviceId: string | null = 'd'): ValidReservation => aRequest({ requestId, userId, deviceId });
const row = (reservationStatus: number, orderStatus: number | null): DurableLookup => ({
  outcome: 'done', state: { requestId: 'x', userId: '1', reservationId: 'x', reservationStatus, failureCode: null, orderId: orderStatus === null ? null : '1', orderStatus },
});
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('a user at his limit is refused at every gateway; a device takes more, and another device starts anew', async () => {
  const { gateways: [one, other] } = world();
  for (const [index, user] of ['1', '2', '3'].entries()) expect(await (index % 2 === 0 ? one : other)?.visit(from(`r${user}`, user))).toBe('passed');
  for (const gateway of [one, other]) {
    expect(await gateway?.visit(from('again', '1', 'other'))).toBe('HOLD_LIMIT');
    expect(await gateway?.visit(from('r4', '4'))).toBe('HOLD_LIMIT');
  }
  expect(await one?.visit(from('r5', '5', 'other'))).toBe('passed');
  expect(await other?.visit(from('r6', '6', null))).toBe('passed');
});

test('of many tries at once from one device, at two gateways, as many pass as it may hold', async () => {
  const { gateways } = world();
  const told = await Promise.all(Array.from({ length: 100 }, async (_value, index) => gateways[index % 2]?.enter(from(`r${String(index)}`, String(index)))));
  expect(told.filter((answer) => answer === 'passed')).toHaveLength(3);
});

test('a request that reserved nothing gives its place back, at once and to anybody', async () => {
  const { book, gateways: [one, other] } = world();
  for (let time = 0; time < 5; time += 1) expect(await one?.visit(from(`r${String(time)}`, '1'), false)).toBe('passed');
  expect([book.holdsOf('u:1'), book.holdsOf('d:d')]).toEqual([[], []]);
  expect(await other?.visit(from('r9', '1'))).toBe('passed');
});

test('the same request is one hold however often and wherever it comes, and its repeat gives nothing back', async () => {
  const { book, gateways: [one, other] } = world();
  expect(await one?.visit(from('r1', '1'))).toBe('passed');
  for (let time = 0; time < 3; time += 1) expect(await other?.visit(from('r1', '1'), false)).toBe('passed');
  expect([book.holdsOf('u:1'), book.holdsOf('d:d')]).toEqual([['r1'], ['r1']]);
});

test.each([
  ['the one that took the place reserves', [0], ['r1']],
  ['the other one reserves', [1], ['r1']],
  ['both have seen the reservation', [0, 1], ['r1']],
  ['neither', [], []],
])('the same request at two gateways at once, and %s', async (_name, reserving, left) => {
  for (const leaving of [[0, 1], [1, 0]]) {
    const { book, gateways } = world();
    const tries = [from('r1', '1'), from('r1', '1')];
    for (const [at, request] of tries.entries()) expect(await gateways[at]?.enter(request)).toBe('passed');
    for (const at of leaving) {
      const [gateway, request] = [gateways[at], tries[at]];
      if (gateway === undefined || request === undefined) throw new Error('two gateways, two tries');
      if (reserving.includes(at)) gateway.holds.accepted(request);
      gateway.holds.leave(request);
      await settled();
    }
    expect([book.holdsOf('u:1'), book.holdsOf('d:d')]).toEqual([left, left]);
  }
});

test('a try whose place is not known gives only its own share back', async () => {
  const { book, gateways: [one, other] } = world();
  await one?.visit(from('r1', '1'));
  const { takeHolds } = book;
  book.takeHolds = async (...asked) => {
    await takeHolds(...asked);
    return { outcome: 'unknown', reason: 'cut' };
  };
  expect(await other?.enter(from('r1', '1'))).toBe('UNAVAILABLE');
  await settled();
  expect([book.holdsOf('u:1'), book.holdsOf('d:d')]).toEqual([['r1'], ['r1']]);
});

test.each(['surely-not-done', 'unknown'] as const)('the book is away (%s): nobody new passes', async (away) => {
  const { book, gateways: [one] } = world();
  book.away = away;
  expect(await one?.visit(from('r1', '1'))).toBe('UNAVAILABLE');
  await settled();
  expect(book.calls.drop).toBe(away === 'unknown' ? 1 : 0);
});

test.each<[string, DurableLookup, number, string]>([
  ['an unpaid order', row(ReservationStatus.ORDERED, OrderStatus.CREATED), 0, 'HOLD_LIMIT'],
  ['an order being paid', row(ReservationStatus.ORDERED, OrderStatus.PAYING), 0, 'HOLD_LIMIT'],
  ['a paid order', row(ReservationStatus.ORDERED, OrderStatus.PAID), 0, 'passed'],
  ['a cancelled order', row(ReservationStatus.RELEASED, OrderStatus.CANCELLED), 0, 'passed'],
  ['a refused reservation', row(ReservationStatus.REJECTED, null), 0, 'passed'],
  ['a reservation on its way', row(ReservationStatus.PENDING_DB, null), 0, 'HOLD_LIMIT'],
  ['nothing there yet', { outcome: 'done', state: null }, 4_000, 'HOLD_LIMIT'],
  ['nothing there, and too old to come any more', { outcome: 'done', state: null }, 4_001, 'passed'],
  ['PostgreSQL away', { outcome: 'unavailable', reason: 'x' }, 4_001, 'HOLD_LIMIT'],
])('after the first refusal his holds are looked up: %s', async (_name, found, ageMs, expected) => {
  const { book, found: states, gateways: [one, other] } = world();
  await one?.visit(from('r1', '1'));
  states.set('r1', found);
  book.nowMs = ageMs;
  expect(await other?.visit(from('r2', '1'))).toBe('HOLD_LIMIT');
  await settled();
  expect(await one?.visit(from('r3', '1'))).toBe(expected);
});

test('no hold outlasts reservation and payment window together', async () => {
  const { book, gateways: [one] } = world(0);
  await one?.visit(from('r1', '1'));
  book.nowMs = 9_999;
  expect(await one?.visit(from('r2', '1'))).toBe('HOLD_LIMIT');
  book.nowMs = 10_000;
  expect(await one?.visit(from('r2', '1'))).toBe('passed');
});

test('look-ups are bounded, and refusals alone never ask twice at once', async () => {
  const { asked, gateways: [one] } = world(1);
  for (const user of ['1', '2', '3']) await one?.visit(from(`r${user}`, user));
  await Promise.all(Array.from({ length: 10 }, async (_value, time) => one?.enter(from(`x${String(time)}`, '9'))));
  await settled();
  expect(asked).toEqual(['r1']);
});
