// The limit on unpaid holds: by user and by device, and how a holder becomes free again.
import { expect, test } from 'vitest';

import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableLookup } from '../../ledger/ledger-port.js';
import { createRateLimit } from '../admission.js';
import { aRequest, saidBy } from './a-request.test-support.js';
import { createUnpaidHolds } from './unpaid-holds.js';

function world(lookupsPerSecond = 1_000) {
  const state = { nowMs: 0, asked: [] as string[], found: new Map<string, DurableLookup>() };
  const holds = createUnpaidHolds({
    tuning: { perUser: 1, perDevice: 3 },
    reader: {
      lookup: (_sku, requestId) => {
        state.asked.push(requestId);
        return Promise.resolve(state.found.get(requestId) ?? { outcome: 'done', state: null });
      },
    },
    limit: createRateLimit(lookupsPerSecond, lookupsPerSecond, () => state.nowMs),
    holdLastsMs: 10_000,
    nowMs: () => state.nowMs,
  });
  const from = (requestId: string, userId: string, deviceId: string | null = 'd') => aRequest({ requestId, userId, deviceId });
  return { state, holds, from };
}
const row = (reservationStatus: number, orderStatus: number | null): DurableLookup => ({
  outcome: 'done', state: { requestId: 'x', userId: '1', reservationId: 'x', reservationStatus, failureCode: null, orderId: orderStatus === null ? null : '1', orderStatus },
});
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a user at his limit is refused; a device takes more, and another device starts anew', () => {
  const { holds, from } = world();
  for (const user of ['1', '2', '3']) {
    expect(saidBy(holds, from(`r${user}`, user))).toBe('passed');
    holds.accepted(from(`r${user}`, user));
  }
  expect(holds.pass(from('again', '1', 'other'))).toMatchObject({ httpStatus: 429, answer: { code: 'HOLD_LIMIT', reason: 'USER' } });
  expect(holds.pass(from('r4', '4'))).toMatchObject({ answer: { code: 'HOLD_LIMIT', reason: 'DEVICE' } });
  expect([saidBy(holds, from('r4', '4', 'other')), saidBy(holds, from('r4', '4', null))]).toEqual(['passed', 'passed']);
});

test('the same request told twice is one hold', () => {
  const { holds, from } = world();
  for (let time = 0; time < 5; time += 1) holds.accepted(from('r1', '1'));
  expect(saidBy(holds, from('r2', '2'))).toBe('passed');
});

test.each<[string, DurableLookup, string]>([
  ['an unpaid order', row(ReservationStatus.ORDERED, OrderStatus.CREATED), 'HOLD_LIMIT'],
  ['an order being paid', row(ReservationStatus.ORDERED, OrderStatus.PAYING), 'HOLD_LIMIT'],
  ['a paid order', row(ReservationStatus.ORDERED, OrderStatus.PAID), 'passed'],
  ['a cancelled order', row(ReservationStatus.RELEASED, OrderStatus.CANCELLED), 'passed'],
  ['a refused reservation', row(ReservationStatus.REJECTED, null), 'passed'],
  ['a reservation on its way', row(ReservationStatus.PENDING_DB, null), 'HOLD_LIMIT'],
  ['nothing there yet', { outcome: 'done', state: null }, 'HOLD_LIMIT'],
  ['PostgreSQL away', { outcome: 'unavailable', reason: 'x' }, 'HOLD_LIMIT'],
])('after the first refusal his holds are looked up: %s', async (_name, found, expected) => {
  const { state, holds, from } = world();
  holds.accepted(from('r1', '1'));
  state.found.set('r1', found);
  expect(saidBy(holds, from('r2', '1'))).toBe('HOLD_LIMIT');
  await settled();
  expect(saidBy(holds, from('r3', '1'))).toBe(expected);
});

test('no hold outlasts reservation and payment window together', () => {
  const { state, holds, from } = world();
  holds.accepted(from('r1', '1'));
  state.nowMs = 9_999;
  expect(saidBy(holds, from('r2', '1'))).toBe('HOLD_LIMIT');
  state.nowMs = 10_000;
  expect(saidBy(holds, from('r2', '1'))).toBe('passed');
});

test('look-ups are bounded, and refusals alone never ask twice at once', async () => {
  const { state, holds, from } = world(1);
  for (const user of ['1', '2', '3']) holds.accepted(from(`r${user}`, user));
  for (let time = 0; time < 10; time += 1) saidBy(holds, from(`x${String(time)}`, '9'));
  await settled();
  expect(state.asked).toEqual(['r1']);
});
