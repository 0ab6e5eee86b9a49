// Several consumers at once on a real PostgreSQL: the last unit, one user, one message, locked units, deadlocks.
import { describe, expect, test } from 'vitest';

import type { OrderMessage } from '../../domain/order-message.js';
import { atStep, committed, message, messages, openCase, resultsOf, type LedgerCase } from './ledger-case.test-support.js';
import type { OrderLedger } from './ledger-port.js';

/** As a consumer does: the same batch until it is decided. */
async function decided(ledger: OrderLedger, batch: readonly OrderMessage[]): Promise<string[]> {
  for (;;) {
    const outcome = await ledger.createOrders(batch);
    if (outcome.outcome !== 'not-committed') return resultsOf(outcome);
  }
}

const retries = (fresh: LedgerCase, cause: string): Promise<number> => fresh.metric('seckill_order_transaction_retries_total', `cause="${cause}"`);

const twoLedgers = (fresh: LedgerCase): readonly [OrderLedger, OrderLedger] => [fresh.ledger({ instance: 'consumer-1' }), fresh.ledger({ instance: 'consumer-2' })];

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  test('one unit, forty buyers at two consumers: one order', async () => {
    await using fresh = await openCase({ stock: 1, allocator });
    const ledgers = twoLedgers(fresh);
    const results = (await Promise.all(messages(40).map((asked, place) => decided(ledgers[place % 2 === 0 ? 0 : 1], [asked])))).flat();
    expect(results.toSorted()).toEqual(['ORDER_CREATED', ...Array.from({ length: 39 }, () => 'REJECTED_NO_FINAL_STOCK')]);
    expect(await fresh.held()).toBe(1);
    expect(await fresh.count('orders')).toBe(1);
  });

  test('one user at two consumers, many requests: one order, all others name the cause', async () => {
    await using fresh = await openCase({ stock: 50, allocator });
    const ledgers = twoLedgers(fresh);
    const userId = '42';
    const results = (await Promise.all(Array.from({ length: 20 }, (_, place) => decided(ledgers[place % 2 === 0 ? 0 : 1], [message({ userId }), message()])))).map(([first]) => first ?? '');
    expect(results.toSorted()).toEqual(['ORDER_CREATED', ...Array.from({ length: 19 }, () => 'REJECTED_DUPLICATE_USER')]);
    expect(await fresh.held()).toBe(21);
  });

  test('C19: one message delivered fifty times at once: one order, the losers read it', async () => {
    await using fresh = await openCase({ stock: 50, allocator });
    const ledgers = twoLedgers(fresh);
    const asked = message();
    const results = (await Promise.all(Array.from({ length: 50 }, async (_, place) => committed(await ledgers[place % 2 === 0 ? 0 : 1].createOrders([asked]))))).flat();
    expect(new Set(results.map(({ orderId }) => orderId)).size).toBe(1);
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect([await fresh.count('orders'), await fresh.count('consumer_inbox'), await fresh.events(), await fresh.held()]).toEqual([1, 1, 1, 1]);
  });

  test('two consumers with batches larger than what is left: all of the stock is sold, no unit twice', async () => {
    await using fresh = await openCase({ stock: 70, allocator });
    const ledgers = twoLedgers(fresh);
    const results = (await Promise.all(ledgers.flatMap((ledger) => [decided(ledger, messages(30)), decided(ledger, messages(30))]))).flat();
    expect(results.filter((result) => result === 'ORDER_CREATED')).toHaveLength(70);
    expect(results.filter((result) => result === 'REJECTED_NO_FINAL_STOCK')).toHaveLength(50);
    expect([await fresh.held(), await fresh.count('orders')]).toEqual([70, 70]);
  });
});

test('C29: a unit that another transaction holds and gives back is "again", not "sold out", and is sold in the end', async () => {
  await using fresh = await openCase({ stock: 1, allocator: 'token' });
  const ledger = fresh.ledger();
  const asked = message();
  await fresh.client.query('begin; select * from inventory_token for update');
  const outcome = await ledger.createOrders([asked]);
  expect(outcome).toMatchObject({ outcome: 'not-committed' });
  expect(await fresh.count('consumer_inbox')).toBe(0);
  await fresh.client.query('rollback');
  expect(resultsOf(await ledger.createOrders([asked]))).toEqual(['ORDER_CREATED']);
});

test('C29: a partly locked stock is not called sold out for the rest of the batch', async () => {
  await using fresh = await openCase({ stock: 3, allocator: 'token' });
  await fresh.client.query('begin; select * from inventory_token order by token_id limit 1 for update');
  // The lock ends at the second try: the whole batch is then decided with all three units.
  const ledger = fresh.ledger({ observer: atStep('consumer.after-order', async (hit) => {
    if (hit === 2) await fresh.client.query('rollback');
  }) });
  expect(resultsOf(await ledger.createOrders(messages(4)))).toEqual(['ORDER_CREATED', 'ORDER_CREATED', 'ORDER_CREATED', 'REJECTED_NO_FINAL_STOCK']);
  expect(await retries(fresh, 'UnitsLocked')).toBe(1);
});

test('a deadlock is met by trying the whole transaction again', async () => {
  await using fresh = await openCase({ stock: 5, allocator: 'row' });
  // The ledger looks for deadlocks early and becomes the victim; the other side would look only after ten seconds.
  await fresh.client.query(`alter database ${fresh.config.namespace.database} set deadlock_timeout = '200ms'`);
  await fresh.client.query("set deadlock_timeout = '10s'");
  const asked = message();
  let other: Promise<unknown> = Promise.resolve();
  await fresh.client.query('begin; select * from sku_inventory for update');
  const ledger = fresh.ledger({ observer: atStep('consumer.after-order', (hit) => {
    // The ledger holds the new reservation and will wait for the stock row; now the stock row's holder waits for the reservation.
    if (hit === 1) {
      other = fresh.client.query("insert into inventory_reservation (reservation_id, request_id, first_message_id, activity_id, sku_id, user_id, inventory_bucket, redis_reserved_at, expires_at) values ($1, 'other', $1, 1, 1, 1, 0, now(), now() + interval '1 hour')", [asked.reservationId])
        .then(() => fresh.client.query('rollback'));
    }
  }) });
  expect(resultsOf(await ledger.createOrders([asked]))).toEqual(['ORDER_CREATED']);
  await other;
  expect(await retries(fresh, '40P01')).toBe(1);
  expect([await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([1, 1]);
});

test('a lock that lasts too long is tried again, and "not committed" when it stays', async () => {
  await using fresh = await openCase({ stock: 5, allocator: 'row' });
  await fresh.client.query('begin; select * from sku_inventory for update');
  const ledger = fresh.ledger();
  const asked = message();
  expect(await ledger.createOrders([asked])).toMatchObject({ outcome: 'not-committed', slow: false });
  await fresh.client.query('rollback');
  expect(resultsOf(await ledger.createOrders([asked]))).toEqual(['ORDER_CREATED']);
});
