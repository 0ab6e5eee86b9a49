// A batch ends exactly as its messages one by one: random messages with every kind of duplicate, compared table by table.
import fc from 'fast-check';
import { v5 as uuidv5 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { OrderMessage } from '../../domain/order-message.js';
import { ACTIVITY, committed, message, openCase, SKU, type LedgerCase } from './ledger-case.test-support.js';
import type { MessageResult, OrderLedger } from './ledger-port.js';
import { loadStatements } from './sql-loader.js';

const NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const id = (kind: string, number: number): string => uuidv5(`${kind}-${String(number)}`, NAMESPACE);

/** Small pools of ids, so that everything collides with everything. A reservation has one request, one user and one set of terms, as the gateway makes it. */
const someReservation = fc.record({
  request: fc.nat(8),
  user: fc.nat(7),
  purchaseNo: fc.constantFrom(1, 1, 1, 1, 2),
  version: fc.constantFrom('3', '3', '3', '3', '3', '4'),
  expired: fc.constantFrom(false, false, false, false, true),
});
const someDelivery = fc.record({ message: fc.nat(12), reservation: fc.nat(9) });

const someRun = fc.record({
  stock: fc.nat(6),
  reservations: fc.array(someReservation, { minLength: 10, maxLength: 10 }),
  batches: fc.array(fc.array(someDelivery, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
}).map(({ stock, reservations, batches }) => ({
  stock,
  batches: batches.map((deliveries) => deliveries.map((delivery): OrderMessage => {
    const drawn = reservations[delivery.reservation];
    if (drawn === undefined) throw new Error('ten reservations');
    return message({
      messageId: id('message', delivery.message),
      reservationId: id('reservation', delivery.reservation),
      requestId: `request-${String(drawn.request)}`,
      userId: String(drawn.user + 1),
      purchaseNo: drawn.purchaseNo,
      activityVersion: drawn.version,
      reservedAtMs: 1_700_000_000_000,
      expiresAtMs: drawn.expired ? 1_700_000_300_000 : 4_000_000_000_000,
    });
  })),
}));

/** What is left in the tables, without ids and times that differ from run to run. */
const CONTENTS = `select jsonb_build_object(
  'orders', (select jsonb_agg(jsonb_build_array(reservation_id, request_id, source_message_id, user_id, purchase_no, status, inventory_token_id is null) order by reservation_id) from orders),
  'items', (select count(*) from order_items),
  'reservations', (select jsonb_agg(jsonb_build_array(r.reservation_id, r.request_id, r.first_message_id, r.user_id, r.status, r.failure_code, r.version, o.reservation_id) order by r.reservation_id)
                     from inventory_reservation r left join orders o on o.order_id = r.order_id),
  'inbox', (select jsonb_agg(jsonb_build_array(i.message_id, i.reservation_id, i.result_code, o.reservation_id) order by i.message_id) from consumer_inbox i left join orders o on o.order_id = i.order_id),
  'outbox', (select jsonb_agg(jsonb_build_array(e.dedup_key, e.aggregate_version, e.tag, e.payload - 'eventId' - 'orderId', o.reservation_id) order by e.dedup_key)
               from event_outbox e left join orders o on o.order_id = (e.payload->>'orderId')::bigint),
  'ledger', (select jsonb_agg(jsonb_build_array(idempotency_key, before_available, after_available, before_allocated, after_allocated) order by idempotency_key) from inventory_ledger),
  'inventory', (select jsonb_agg(jsonb_build_array(available_stock, allocated_stock)) from sku_inventory),
  'tokens', (select jsonb_agg(jsonb_build_array(t.status, o.reservation_id) order by o.reservation_id, t.token_id) from inventory_token t left join orders o on o.inventory_token_id = t.token_id)) as contents`;

async function reset(fresh: LedgerCase, stock: number): Promise<void> {
  const { seed_tokens: seedTokens } = loadStatements();
  // DELETE, since TRUNCATE of eight small tables waits for the disk eight times.
  const tables = ['order_items', 'orders', 'inventory_reservation', 'consumer_inbox', 'event_outbox', 'inventory_ledger', 'inventory_token'];
  await fresh.client.query(tables.map((table) => `delete from ${table}`).join('; '));
  await fresh.client.query('update sku_inventory set total_stock = $1, available_stock = $1, allocated_stock = 0', [stock]);
  await fresh.client.query({ ...seedTokens, values: [ACTIVITY, SKU, stock] });
}

const plain = (results: ReturnType<typeof committed>): readonly Pick<MessageResult, 'result' | 'repeated'>[] => results.map(({ result, repeated }) => ({ result, repeated }) as Pick<MessageResult, 'result' | 'repeated'>);

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  let single: LedgerCase;
  let batch: LedgerCase;
  let ledgers: { readonly single: OrderLedger; readonly batch: OrderLedger };

  beforeAll(async () => {
    single = await openCase({ stock: 1, allocator });
    batch = await openCase({ stock: 1, allocator });
    ledgers = { single: single.ledger(), batch: batch.ledger() };
  });

  afterAll(async () => {
    await single[Symbol.asyncDispose]();
    await batch[Symbol.asyncDispose]();
  });

  test('same results and same tables', async () => {
    await fc.assert(fc.asyncProperty(someRun, async ({ stock, batches }) => {
      await Promise.all([reset(single, stock), reset(batch, stock)]);
      for (const messages of batches) {
        const oneByOne = [];
        for (const asked of messages) oneByOne.push(...plain(committed(await ledgers.single.createOrders([asked]))));
        expect(plain(committed(await ledgers.batch.createOrders(messages)))).toEqual(oneByOne);
      }
      expect(await batch.one(CONTENTS)).toEqual(await single.one(CONTENTS));
    }), { numRuns: 40 });
  }, 120_000);
});
