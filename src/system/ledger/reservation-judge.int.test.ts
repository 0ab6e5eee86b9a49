// How the scanner ends a reservation that never became an order, in a race with its late message.
import { expect, test } from 'vitest';

import type { OrderMessage } from '../../domain/order-message.js';
import { message, openCase, resultsOf, type LedgerCase } from './ledger-case.test-support.js';
import type { ClosedReservation, ReservationJudge } from './ledger-port.js';
import { createReservationJudge } from './reservation-judge.js';

function judgeOf(fresh: LedgerCase): ReservationJudge {
  const judge = createReservationJudge({ ...fresh.config, instance: 'scanner-1' }, fresh.surroundings());
  fresh.closeAtEnd(() => judge.close());
  return judge;
}

function closing(asked: OrderMessage): ClosedReservation {
  return { ...asked, sku: { activityId: asked.activityId, skuId: asked.skuId } };
}

test('closed once, with one event that returns the unit; the late message is refused', async () => {
  await using fresh = await openCase({ stock: 5 });
  const judge = judgeOf(fresh);
  const asked = message();
  expect(await judge.closeWithoutOrder(closing(asked))).toBe('closed');
  expect(await judge.closeWithoutOrder(closing(asked))).toBe('already-there');
  expect(resultsOf(await fresh.ledger().createOrders([asked]))).toEqual(['ALREADY_CLOSED']);
  expect(await judge.durableStates([asked.reservationId, message().reservationId])).toEqual(new Map([[asked.reservationId, { status: 50, orderId: null, version: 1, returnsUnit: true, clearsUserMark: true }]]));
  const event = await fresh.one<{ tag: string; payload: object }>('select tag, payload from event_outbox');
  expect(event).toMatchObject({ tag: 'RESERVATION_RELEASED', payload: { returnsUnit: true, aggregateVersion: 1, reservationId: asked.reservationId } });
  expect(await fresh.held()).toBe(0);
});

test('an ordered reservation is not closed', async () => {
  await using fresh = await openCase({ stock: 5 });
  const asked = message();
  await fresh.ledger().createOrders([asked]);
  expect(await judgeOf(fresh).closeWithoutOrder(closing(asked))).toBe('already-there');
  expect(await fresh.count('event_outbox', "tag = 'RESERVATION_RELEASED'")).toBe(0);
});

test('a reservation whose request id belongs to another still gives its unit back, once, whoever comes first', async () => {
  await using fresh = await openCase({ stock: 5 });
  const first = message();
  await fresh.ledger().createOrders([first]);
  const other = message({ requestId: first.requestId });
  expect(await judgeOf(fresh).closeWithoutOrder(closing(other))).toBe('closed');
  expect(await judgeOf(fresh).closeWithoutOrder(closing(other))).toBe('closed');
  expect(resultsOf(await fresh.ledger().createOrders([other]))).toEqual(['REJECTED_DUPLICATE_REQUEST']);
  expect(await fresh.count('event_outbox', "(payload->>'returnsUnit')::bool")).toBe(1);
});

test('close and late message at once: exactly one of them wins', async () => {
  await using fresh = await openCase({ stock: 30 });
  const judge = judgeOf(fresh);
  const ledger = fresh.ledger();
  for (let round = 0; round < 20; round++) {
    const asked = message();
    const [closed, created] = await Promise.all([judge.closeWithoutOrder(closing(asked)), ledger.createOrders([asked])]);
    expect([closed, ...resultsOf(created)].toSorted()).toEqual(closed === 'closed' ? ['ALREADY_CLOSED', 'closed'] : ['ORDER_CREATED', 'already-there']);
  }
  expect(await fresh.count('event_outbox', "tag <> 'ORDER_CLOSE_DUE'")).toBe(20);
  expect(await fresh.held()).toBe(await fresh.count('orders'));
});

test('handed over: a row in MANUAL_REQUIRED, no event, its unit stays held; the late message is refused and the second hand-over does nothing', async () => {
  await using fresh = await openCase({ stock: 5 });
  const judge = judgeOf(fresh);
  const asked = message();
  expect(await judge.handOver(closing(asked))).toBe('handed-over');
  expect(await judge.handOver(closing(asked))).toBe('already-there');
  expect(await judge.closeWithoutOrder(closing(asked))).toBe('already-there');
  expect(resultsOf(await fresh.ledger().createOrders([asked]))).toEqual(['ALREADY_CLOSED']);
  expect(await fresh.one('select status::int, failure_code, version::int from inventory_reservation')).toEqual({ status: 60, failure_code: 'RECOVERY_DEADLINE', version: 1 });
  expect([await fresh.count('event_outbox'), await fresh.count('orders')]).toEqual([0, 0]);
  expect(await judge.manual()).toMatchObject({ waiting: 1 });
});

test('an ordered reservation is not handed over, nor one whose request belongs to another', async () => {
  await using fresh = await openCase({ stock: 5 });
  const asked = message();
  await fresh.ledger().createOrders([asked]);
  expect(await judgeOf(fresh).handOver(closing(asked))).toBe('already-there');
  expect(await judgeOf(fresh).handOver(closing(message({ requestId: asked.requestId })))).toBe('request-taken');
  expect(await fresh.count('inventory_reservation', 'status = 60')).toBe(0);
});

test('what the database refuses to close is told apart from a database that is away', async () => {
  await using fresh = await openCase({ stock: 5 });
  const asked = message();
  await fresh.client.query(`alter table inventory_reservation add constraint no_such_user check (user_id <> ${asked.userId})`);
  expect(await judgeOf(fresh).closeWithoutOrder(closing(asked))).toBe('refused');
  expect(await judgeOf(fresh).handOver(closing(asked))).toBe('refused');
});
