// The order transaction on a real PostgreSQL, for both allocators: every branch of the conflict classification, alone and in one batch.
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';

import { parseOrderEvent } from '../../domain/order-event.js';
import { committed, message, messages, openCase, resultsOf, type LedgerCase } from './ledger-case.test-support.js';

/** What must hold in the tables whatever happened. */
async function expectBalanced(fresh: LedgerCase): Promise<void> {
  const orders = await fresh.count('orders');
  expect(await fresh.held()).toBe(orders);
  expect(await fresh.count('inventory_ledger')).toBe(orders);
  expect(await fresh.count('order_items')).toBe(orders);
  expect(await fresh.count('inventory_reservation', 'status = 10')).toBe(orders);
  expect(await fresh.count('inventory_reservation', 'status = 0')).toBe(0);
  expect(await fresh.count('event_outbox', "tag = 'ORDER_CREATED'")).toBe(orders);
  expect(await fresh.count('orders o', 'not exists (select 1 from inventory_ledger l where l.order_id = o.order_id and l.reservation_id = o.reservation_id)')).toBe(0);
}

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  test('a message becomes an order with item, ledger entry, event and Inbox row; its id passes 2^53', async () => {
    await using fresh = await openCase({ stock: 3, allocator });
    const asked = message();
    const [result] = committed(await fresh.ledger().createOrders([asked]));
    expect(result).toMatchObject({ result: 'ORDER_CREATED', repeated: false });
    expect(BigInt(result?.orderId ?? '0')).toBeGreaterThan(2n ** 53n);
    const order = await fresh.one('select o.*, i.line_amount, l.before_available, l.after_available, l.inventory_token_id as entry_token, x.result_code, x.order_id as inbox_order from orders o join order_items i using (order_id) join inventory_ledger l using (order_id) join consumer_inbox x on x.message_id = o.source_message_id');
    expect(order).toMatchObject({
      order_id: result?.orderId, user_id: asked.userId, request_id: asked.requestId, status: 10, total_amount: '9900', line_amount: '9900', result_code: 'ORDER_CREATED',
      inbox_order: result?.orderId, before_available: allocator === 'token' ? 1 : 3, after_available: allocator === 'token' ? 0 : 2,
    });
    expect(order['entry_token']).toBe(order['inventory_token_id']);
    expect(order['inventory_token_id'] === null).toBe(allocator === 'row');
    const event = await fresh.one<{ payload: Record<string, unknown>; text: string; aggregate_version: string }>("select payload, payload::text as text, aggregate_version from event_outbox where tag = 'ORDER_CREATED'");
    // C35: ids inside of JSON stay strings.
    expect(event.payload).toMatchObject({ type: 'ORDER_CREATED', orderId: result?.orderId, userId: asked.userId, reservationId: asked.reservationId, returnsUnit: false, aggregateVersion: 1 });
    expect(event.aggregate_version).toBe('1');
    // The JSON is put together in SQL: whole, and with no word more than an event has.
    const { messageId: _m, payloadHash: _p, quantity: _q, purchaseNo: _n, activityVersion: _v, reservedAtMs: _r, expiresAtMs: _e, ...ids } = asked;
    const { rows: events } = await fresh.client.query<{ event_id: string; tag: string; payload: unknown; text: string; keys: boolean }>(`select event_id, tag, payload, payload::text as text,
      dedup_key = tag || ':' || aggregate_id and message_key = aggregate_id and aggregate_type = 'RESERVATION' and schema_version = 1 and headers = '{}' as keys from event_outbox order by tag`);
    expect(events.map(({ tag, keys }) => [tag, keys])).toEqual([['ORDER_CLOSE_DUE', true], ['ORDER_CREATED', true]]);
    for (const { event_id: eventId, tag: type, payload, text } of events) {
      expect(payload).toStrictEqual({ ...ids, eventId, type, aggregateId: asked.reservationId, aggregateVersion: 1, orderId: result?.orderId, reason: null, returnsUnit: false, clearsUserMark: false });
      expect(parseOrderEvent(text)).toMatchObject({ ok: true });
    }
    await expectBalanced(fresh);
  });

  test('the same message again is answered by the Inbox and changes nothing', async () => {
    await using fresh = await openCase({ stock: 3, allocator });
    const ledger = fresh.ledger();
    const asked = message();
    const [first] = committed(await ledger.createOrders([asked]));
    expect(committed(await ledger.createOrders([asked]))).toEqual([{ ...first, repeated: true }]);
    expect(await fresh.events()).toBe(1);
    await expectBalanced(fresh);
  });

  test('another message of the same reservation returns the existing order', async () => {
    await using fresh = await openCase({ stock: 3, allocator });
    const ledger = fresh.ledger();
    const asked = message();
    const [first] = committed(await ledger.createOrders([asked]));
    expect(committed(await ledger.createOrders([{ ...asked, messageId: uuidv7() }]))).toEqual([{ result: 'ALREADY_ORDERED', orderId: first?.orderId, repeated: false }]);
    await expectBalanced(fresh);
  });

  test('a second order of a user, and a request id of another reservation, are refused with an event that returns the unit', async () => {
    await using fresh = await openCase({ stock: 5, allocator });
    const ledger = fresh.ledger();
    const first = message();
    await ledger.createOrders([first]);
    const sameUser = message({ userId: first.userId });
    const sameRequest = message({ requestId: first.requestId });
    expect(resultsOf(await ledger.createOrders([sameUser, sameRequest]))).toEqual(['REJECTED_DUPLICATE_USER', 'REJECTED_DUPLICATE_REQUEST']);
    const { rows } = await fresh.client.query("select payload->>'reservationId' as id, payload->>'reason' as reason, payload->'returnsUnit' as returns from event_outbox where tag = 'RESERVATION_REJECTED' order by payload->>'reason'");
    expect(rows).toEqual([
      { id: sameRequest.reservationId, reason: 'REJECTED_DUPLICATE_REQUEST', returns: true },
      { id: sameUser.reservationId, reason: 'REJECTED_DUPLICATE_USER', returns: true },
    ]);
    expect(await fresh.one('select status, failure_code from inventory_reservation where reservation_id = $1', [sameUser.reservationId])).toEqual({ status: 20, failure_code: 'REJECTED_DUPLICATE_USER' });
    expect(resultsOf(await ledger.createOrders([{ ...sameUser, messageId: uuidv7() }, { ...sameRequest, messageId: uuidv7() }]))).toEqual(['ALREADY_CLOSED', 'REJECTED_DUPLICATE_REQUEST']);
    expect(await fresh.events()).toBe(3);
    const inbox = await fresh.client.query<{ code: string }>('select result_code as code from consumer_inbox where order_id is null order by result_code');
    expect(inbox.rows.map(({ code }) => code)).toEqual(['ALREADY_CLOSED', 'REJECTED_DUPLICATE_REQUEST', 'REJECTED_DUPLICATE_REQUEST', 'REJECTED_DUPLICATE_USER']);
    await expectBalanced(fresh);
  });

  test('C31: a batch of 10 with 4 duplicates takes 6 units', async () => {
    await using fresh = await openCase({ stock: 10, allocator });
    const [a, b, c, d, e, f] = messages(6);
    if (!a || !b || !c || !d || !e || !f) throw new Error('six messages');
    const batch = [a, b, c, a, { ...b, messageId: uuidv7() }, d, message({ requestId: c.requestId }), e, message({ userId: d.userId }), f];
    const results = committed(await fresh.ledger().createOrders(batch));
    expect(results.map(({ result, repeated }) => `${result}${repeated ? ' again' : ''}`)).toEqual([
      'ORDER_CREATED', 'ORDER_CREATED', 'ORDER_CREATED', 'ORDER_CREATED again', 'ALREADY_ORDERED', 'ORDER_CREATED',
      'REJECTED_DUPLICATE_REQUEST', 'ORDER_CREATED', 'REJECTED_DUPLICATE_USER', 'ORDER_CREATED',
    ]);
    expect(results[3]?.orderId).toBe(results[0]?.orderId);
    expect(results[4]?.orderId).toBe(results[1]?.orderId);
    expect(await fresh.held()).toBe(6);
    await expectBalanced(fresh);
  });

  test('more messages than stock: the earlier ones get it, the others are refused durably', async () => {
    await using fresh = await openCase({ stock: 2, allocator });
    const batch = messages(4);
    expect(resultsOf(await fresh.ledger().createOrders(batch))).toEqual(['ORDER_CREATED', 'ORDER_CREATED', 'REJECTED_NO_FINAL_STOCK', 'REJECTED_NO_FINAL_STOCK']);
    expect(resultsOf(await fresh.ledger().createOrders(messages(1)))).toEqual(['REJECTED_NO_FINAL_STOCK']);
    expect(await fresh.count('event_outbox', "tag = 'RESERVATION_REJECTED'")).toBe(3);
    await expectBalanced(fresh);
  });

  test('running values: the ledger of a batch is a chain', async () => {
    await using fresh = await openCase({ stock: 20, allocator });
    await fresh.ledger().createOrders(messages(7));
    const { rows } = await fresh.client.query<{ a: number; b: number; c: number; d: number }>('select before_available as a, after_available as b, before_allocated as c, after_allocated as d from inventory_ledger order by before_available desc');
    if (allocator === 'row') expect(rows.map(({ a, b, c, d }) => [a, b, c, d])).toEqual(Array.from({ length: 7 }, (_, k) => [20 - k, 19 - k, k, k + 1]));
    else expect(rows.map(({ a, b, c, d }) => [a, b, c, d])).toEqual(Array.from({ length: 7 }, () => [1, 0, 0, 1]));
    expect(await fresh.count('inventory_ledger l', 'inventory_token_id is not null and exists (select 1 from inventory_ledger m where m.inventory_token_id = l.inventory_token_id and m.ledger_id <> l.ledger_id)')).toBe(0);
  });
});

test('what is expired, of another version, stopped or unknown is refused durably', async () => {
  await using fresh = await openCase({ stock: 9 });
  const ledger = fresh.ledger();
  const expired = message({ reservedAtMs: Date.now() - 2_000, expiresAtMs: Date.now() - 1_000 });
  expect(resultsOf(await ledger.createOrders([expired, message({ activityVersion: '4' }), message({ skuId: '1' })])))
    .toEqual(['REJECTED_EXPIRED', 'REJECTED_ACTIVITY_VERSION', 'REJECTED_ACTIVITY_VERSION']);
  await fresh.client.query('update seckill_activity set status = 30');
  expect(resultsOf(await ledger.createOrders(messages(1)))).toEqual(['REJECTED_ACTIVITY_STOPPED']);
  await fresh.client.query('update seckill_activity set status = 20; update seckill_sku set status = 20');
  expect(resultsOf(await ledger.createOrders(messages(1)))).toEqual(['REJECTED_ACTIVITY_STOPPED']);
  expect(await fresh.count('inventory_reservation', 'status = 20')).toBe(5);
  expect(await fresh.count('event_outbox', "tag = 'RESERVATION_REJECTED' and (payload->>'returnsUnit')::bool")).toBe(5);
  await expectBalanced(fresh);
});

test('a closed reservation refuses its late message; an ordered one that is expired stays ordered', async () => {
  await using fresh = await openCase({ stock: 9 });
  const ledger = fresh.ledger();
  const late = message();
  await fresh.client.query(`insert into inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, inventory_bucket, status, redis_reserved_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, 0, 50, now() - interval '1 hour', now())`, [late.reservationId, late.requestId, late.messageId, late.activityId, late.skuId, late.userId]);
  const ordered = message();
  await ledger.createOrders([ordered]);
  await fresh.client.query("update inventory_reservation set redis_reserved_at = now() - interval '1 hour', expires_at = now() - interval '1 minute' where status = 10");
  expect(resultsOf(await ledger.createOrders([late, { ...ordered, messageId: uuidv7() }]))).toEqual(['ALREADY_CLOSED', 'ALREADY_ORDERED']);
  await expectBalanced(fresh);
});

test.each([true, false])('buying again after a cancel, allowed: %s; the number in the message is only a guess', async (rebuyAfterCancel) => {
  await using fresh = await openCase({ stock: 9, rules: { rebuyAfterCancel } });
  const ledger = fresh.ledger();
  const first = message();
  await ledger.createOrders([first]);
  const again = (purchaseNo: number) => message({ userId: first.userId, purchaseNo });
  expect(resultsOf(await ledger.createOrders([again(2), again(1)]))).toEqual(['REJECTED_DUPLICATE_USER', 'REJECTED_DUPLICATE_USER']);
  await fresh.client.query('update orders set status = 40, cancelled_at = now()');
  const second = again(1);
  expect(resultsOf(await ledger.createOrders([second, again(2), again(1)])))
    .toEqual([rebuyAfterCancel ? 'ORDER_CREATED' : 'REJECTED_DUPLICATE_USER', 'REJECTED_DUPLICATE_USER', 'REJECTED_DUPLICATE_USER']);
  if (!rebuyAfterCancel) return;
  expect(await fresh.one('select o.purchase_no, r.purchase_no as reserved from orders o join inventory_reservation r using (reservation_id) where reservation_id = $1', [second.reservationId]))
    .toEqual({ purchase_no: 2, reserved: 2 });
});

test('every new order has its timer, due at its own expire_at; a refused one has none', async () => {
  await using fresh = await openCase({ stock: 1 });
  const [won, lost] = [message(), message()];
  await fresh.ledger().createOrders([won, lost]);
  expect(await fresh.one(`select e.topic, e.aggregate_id, e.aggregate_version::int as version, e.available_at = o.expire_at as on_time, e.payload->>'orderId' = o.order_id::text as named
    from event_outbox e join orders o on o.reservation_id = e.aggregate_id::uuid where tag = 'ORDER_CLOSE_DUE'`))
    .toEqual({ topic: fresh.config.namespace.closesTopic, aggregate_id: won.reservationId, version: 1, on_time: true, named: true });
  expect(await fresh.count('event_outbox')).toBe(3);
});
