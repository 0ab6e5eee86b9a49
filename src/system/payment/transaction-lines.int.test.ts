// Every transaction of a role writes one line with the ids that it is about and what it cost (papers 000 §12.6, 001 §12.1): asked of each role that writes.
import { randomUUID } from 'node:crypto';

import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';

import type { DeadLetter } from '../../domain/dead-letter.js';
import { ACTIVITY, committed, message, SKU } from '../ledger/ledger-case.test-support.js';
import type { ClosedReservation } from '../ledger/ledger-port.js';
import { createOrderLedger } from '../ledger/order-ledger.js';
import { createReservationJudge } from '../ledger/reservation-judge.js';
import { createDeadLetterStore } from '../recovery/dead-letter-store.js';
import type { RoleSurroundings } from '../role.js';
import { callbackFor, openLife, type LifeCase } from './life-case.test-support.js';
import { createOrderLife } from './order-life.js';

type Line = Readonly<Record<string, unknown>>;

const COSTS = { commitResult: 'committed', sqlState: null, affectedRows: expect.any(Number) as number, poolAcquireMs: expect.any(Number) as number, databaseMs: expect.any(Number) as number };
const FIRST_TRY = { transactionAttempt: 1, retryCount: 0 };

/** As a role has them: with a recorder, without which nobody watches the pool. */
function watched(fresh: LifeCase): RoleSurroundings {
  return { ...fresh.ledger.surroundings(), metrics: fresh.ledger.metrics };
}

function lastLine(fresh: LifeCase): Line {
  return (fresh.ledger.logs.filter(({ text }) => text === 'transaction').at(-1)?.fields ?? {}) as Line;
}

test.each(['token', 'row'] as const)('consumer, %s: request, reservation, message, order and unit', async (allocator) => {
  await using fresh = await openLife({ stock: 3, allocator });
  const ledger = createOrderLedger(fresh.ledger.configFor({}), watched(fresh), { metrics: fresh.ledger.metrics });
  fresh.ledger.closeAtEnd(() => ledger.close());
  const asked = message({});
  const [made] = committed(await ledger.createOrders([asked]));
  expect(lastLine(fresh)).toMatchObject({
    ...COSTS, ...FIRST_TRY, messages: 1, requestId: asked.requestId, reservationId: asked.reservationId, messageId: asked.messageId, activityId: ACTIVITY, skuId: SKU, userId: asked.userId,
    resultCode: 'ORDER_CREATED', orderId: made?.orderId,
    ...(allocator === 'token' ? { inventoryTokenId: expect.stringMatching(/^\d+$/) as string } : { inventoryBucket: expect.any(Number) as number, inventoryTokenId: null }),
  });
  await fresh.ledger.client.query(`create function in_conflict() returns trigger language plpgsql as $$ begin raise exception using errcode = '40001'; end $$;
    create trigger in_conflict before insert on orders for each row execute function in_conflict()`);
  const refused = message({});
  await ledger.createOrders([refused]);
  expect(lastLine(fresh)).toMatchObject({ requestId: refused.requestId, transactionAttempt: 6, retryCount: 5, commitResult: 'not-committed', sqlState: '40001', errorClass: 'conflict' });
  expect(fresh.ledger.logs.filter(({ text }) => text === 'orders decided').at(-1)?.fields).toMatchObject({ requestId: refused.requestId, retryCount: 5, errorClass: 'conflict' });
});

test('payment and closer: order, reservation, request and unit, and what it came to', async () => {
  await using fresh = await openLife({ stock: 3 });
  const life = createOrderLife(fresh.ledger.configFor({ instance: 'payment-1' }), watched(fresh));
  fresh.ledger.closeAtEnd(() => life.close());
  const [paid, expired] = await fresh.orders(2);
  if (paid === undefined || expired === undefined) throw new Error('two orders');
  const idsOf = ({ orderId, reservationId, userId }: typeof paid): Line => ({ orderId, reservationId, userId, requestId: expect.any(String) as string, activityId: ACTIVITY, skuId: SKU });
  const unit = { inventoryBucket: 0, inventoryTokenId: expect.stringMatching(/^\d+$/) as string, messageId: expect.any(String) as string };
  await life.startPaying(paid.orderId, paid.userId, 'fake');
  expect(lastLine(fresh)).toMatchObject({ ...COSTS, ...FIRST_TRY, ...idsOf(paid), resultCode: 'PAYING', paymentId: expect.any(String) as string });
  await life.takeCallback(callbackFor(paid.orderId, { tradeNo: 't-1' }));
  expect(lastLine(fresh)).toMatchObject({ ...COSTS, ...FIRST_TRY, ...idsOf(paid), ...unit, resultCode: 'PAID', tradeNo: 't-1' });
  await fresh.timePasses();
  await life.closeExpired([expired.orderId]);
  expect(lastLine(fresh)).toMatchObject({ ...COSTS, ...FIRST_TRY, ...idsOf(expired), ...unit, resultCode: 'CANCELLED', closed: 1 });
});

test('scanner: the reservation that it closes, or hands over', async () => {
  await using fresh = await openLife({ stock: 3 });
  const judge = createReservationJudge(fresh.ledger.configFor({ instance: 'scanner-1' }), watched(fresh));
  fresh.ledger.closeAtEnd(() => judge.close());
  const lost = (): ClosedReservation => ({
    sku: { activityId: ACTIVITY, skuId: SKU }, reservationId: uuidv7(), requestId: randomUUID(), messageId: uuidv7(), userId: '5', purchaseNo: 1, reservedAtMs: Date.now() - 9_000, expiresAtMs: Date.now() - 1_000,
  });
  for (const [act, resultCode] of [['closeWithoutOrder', 'closed'], ['handOver', 'handed-over']] as const) {
    const reservation = lost();
    expect(await judge[act](reservation)).toBe(resultCode);
    const { reservationId, requestId, messageId, userId } = reservation;
    expect(lastLine(fresh)).toMatchObject({ ...COSTS, reservationId, requestId, messageId, userId, activityId: ACTIVITY, skuId: SKU, resultCode });
  }
});

test('undertaker: the letter and the message that it was about', async () => {
  await using fresh = await openLife({ stock: 3 });
  const store = createDeadLetterStore(fresh.ledger.configFor({ instance: 'undertaker-1' }), watched(fresh));
  fresh.ledger.closeAtEnd(() => store.close());
  const ids = { messageId: uuidv7(), reservationId: uuidv7(), requestId: 'r-1', activityId: ACTIVITY, skuId: SKU };
  const letter: DeadLetter = {
    schemaVersion: 1, ...ids, originTopic: 'orders', originPartition: 0, originOffset: '5', group: 'g', cause: 'REFUSED', detail: 'x', attempts: 3, firstSeenAtMs: 1, deadAtMs: 2,
    key: null, value: null, valueBytes: 0, headers: {},
  };
  expect((await store.keep(letter, Buffer.from('x'), null)).outcome).toBe('kept');
  expect(lastLine(fresh)).toMatchObject({ ...COSTS, ...ids, deadLetterId: 'orders/0/5', resultCode: 'OPEN' });
});
