// Migrations, seeding and harvest queries on a real PostgreSQL, under any time zone.
import { readdirSync, readFileSync } from 'node:fs';

import { Client } from 'pg';
import { afterEach, describe, expect, inject, test } from 'vitest';

import type { CompensationRow, DeadLetterRow, InboxRow, InventoryRow, LedgerRow, OrderRow, OutboxRow, PaymentRow, ReservationRow, TokenRow, UnmatchedPaymentRow } from '../../facts/store-facts.js';
import { ASSERTIONS } from './assertions.js';
import { message, messages, openCase, resultsOf, SKU } from './ledger-case.test-support.js';
import { migrate } from './migrate.js';
import { createRequestReader } from './request-reader.js';
import { seedActivity } from './seed.js';
import { loadMigrations } from './sql-loader.js';

const FACTS = new URL('../../../sql/facts/', import.meta.url);
const factQuery = (name: string): string => readFileSync(new URL(`${name}.sql`, FACTS), 'utf8');

test('migrations run once, also when two run at once, and notice a changed file', async () => {
  await using fresh = await openCase({ stock: 1 });
  expect(await migrate(fresh.client)).toEqual([]);
  await fresh.client.query('drop schema public cascade; create schema public');
  const other = new Client({ ...inject('stack').direct.postgres, database: fresh.config.namespace.database });
  await other.connect();
  const applied = await Promise.all([migrate(fresh.client), migrate(other)]);
  await other.end();
  expect(applied.map((names) => names.length).toSorted()).toEqual([0, loadMigrations().length]);
  await fresh.client.query("update schema_migration set checksum = 'x' where version = 2");
  await expect(migrate(fresh.client)).rejects.toThrow('was changed after it was applied');
});

test('seeding splits the stock exactly over buckets and makes a token per unit', async () => {
  await using fresh = await openCase({ stock: 1 });
  await seedActivity(fresh.client, { activityId: '8', version: '1', startAtMs: 0, endAtMs: 1, skuId: '5', stock: 100_003, unitPrice: '1', currency: 'CNY', rules: { restockOnCancel: true }, bucketCount: 64 });
  expect(await fresh.one('select count(*)::int as buckets, sum(total_stock)::int as stock, max(total_stock) - min(total_stock) as spread from sku_inventory where sku_id = 5')).toEqual({ buckets: 64, stock: 100_003, spread: 1 });
  expect(await fresh.count('inventory_token', 'sku_id = 5 and status = 0')).toBe(100_003);
});

const KEYS: Readonly<Record<string, readonly string[]>> = {
  orders: ['orderId', 'requestId', 'reservationId', 'sourceMessageId', 'userId', 'skuId', 'purchaseNo', 'inventoryBucket', 'inventoryTokenId', 'status', 'totalAmount', 'currency', 'version', 'expireAtUs', 'paidAtUs', 'cancelledAtUs', 'cancelReason', 'createdAtUs', 'committedAtUs'] satisfies (keyof OrderRow)[],
  reservations: ['reservationId', 'requestId', 'firstMessageId', 'userId', 'purchaseNo', 'status', 'orderId', 'failureCode', 'version', 'expiresAtUs', 'committedAtUs'] satisfies (keyof ReservationRow)[],
  inventory: ['skuId', 'bucketNo', 'total', 'available', 'allocated'] satisfies (keyof InventoryRow)[],
  tokens: ['tokenId', 'skuId', 'status', 'reservationId'] satisfies (keyof TokenRow)[],
  ledger: ['ledgerId', 'idempotencyKey', 'reservationId', 'orderId', 'bucketNo', 'inventoryTokenId', 'type', 'reason', 'availableDelta', 'allocatedDelta', 'beforeAvailable', 'afterAvailable', 'beforeAllocated', 'afterAllocated'] satisfies (keyof LedgerRow)[],
  inbox: ['consumerGroup', 'messageId', 'reservationId', 'resultCode', 'orderId'] satisfies (keyof InboxRow)[],
  outbox: ['eventId', 'dedupKey', 'aggregateId', 'aggregateVersion', 'type', 'topic', 'status', 'retryCount', 'availableAtUs', 'archived'] satisfies (keyof OutboxRow)[],
  compensations: ['taskId', 'idempotencyKey', 'type', 'reservationId', 'orderId', 'status', 'retryCount', 'nextRunAtUs'] satisfies (keyof CompensationRow)[],
  payments: ['paymentId', 'orderId', 'status', 'provider', 'tradeNo', 'callbackId', 'amount', 'currency', 'paidAtUs', 'createdAtUs', 'version'] satisfies (keyof PaymentRow)[],
  unmatched_payments: ['unmatchedId', 'provider', 'tradeNo', 'claimedOrderId', 'amount', 'currency', 'status', 'reason'] satisfies (keyof UnmatchedPaymentRow)[],
  dead_letters: ['deadLetterId', 'originTopic', 'originPartition', 'originOffset', 'messageId', 'reservationId', 'cause', 'attempts', 'status', 'resolution'] satisfies (keyof DeadLetterRow)[],
  item_mismatches: ['orderId', 'items'],
};

test('harvest queries give the columns of the facts, ids and int8 as text, and the commit time', async () => {
  await using fresh = await openCase({ stock: 2 });
  const beforeUs = Date.now() * 1_000;
  await fresh.ledger().createOrders(messages(3));
  expect(readdirSync(FACTS).map((file) => file.replace('.sql', '')).toSorted()).toEqual([...Object.keys(KEYS), ...ASSERTIONS].toSorted());
  await fresh.client.query('begin isolation level repeatable read read only');
  for (const [name, keys] of Object.entries(KEYS)) {
    const { fields, rows } = await fresh.client.query<Record<string, unknown>>(factQuery(name));
    expect(fields.map((field) => field.name), name).toEqual(keys);
    for (const [key, value] of Object.entries(rows[0] ?? {})) {
      if (/Us$|Id$|version$|Version$|Amount$/.test(key)) expect(value === null || typeof value === 'string', `${name}.${key}`).toBe(true);
    }
  }
  const order = (await fresh.client.query<OrderRow>(factQuery('orders'))).rows[0];
  await fresh.client.query('rollback');
  expect(Number(order?.committedAtUs)).toBeGreaterThanOrEqual(Number(order?.createdAtUs));
  expect(Number(order?.createdAtUs)).toBeGreaterThan(beforeUs - 1_000_000);
  expect(order?.skuId).toBe(SKU);
});

describe('C36: times mean the same under any time zone', () => {
  const before = process.env['TZ'];
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  test.each(['Asia/Shanghai', 'America/New_York', 'UTC'])('%s', async (zone) => {
    process.env['TZ'] = zone;
    await using fresh = await openCase({ stock: 5, tuning: { paymentWindowMs: 900_000 } });
    await fresh.client.query(`alter database ${fresh.config.namespace.database} set timezone = '${zone}'`);
    const alive = message({ reservedAtMs: Date.now() - 60_000, expiresAtMs: Date.now() + 20_000 });
    const gone = message({ reservedAtMs: Date.now() - 60_000, expiresAtMs: Date.now() - 100 });
    expect(resultsOf(await fresh.ledger().createOrders([alive, gone]))).toEqual(['ORDER_CREATED', 'REJECTED_EXPIRED']);
    expect(await fresh.one('select expire_at - created_at = interval \'15 minutes\' as exact, expire_at > now() + interval \'14 minutes\' as later from orders')).toEqual({ exact: true, later: true });
    const rows = (await fresh.client.query<ReservationRow>(factQuery('reservations'))).rows;
    expect(rows.map((row) => [row.reservationId, String(row.expiresAtUs)]).toSorted()).toEqual([alive, gone].map((asked) => [asked.reservationId, String(asked.expiresAtMs * 1_000)]).toSorted());
  });
});

test('a request is found by activity, SKU and id, with the state of its order; an unreachable server is "unavailable"', async () => {
  await using fresh = await openCase({ stock: 5 });
  const asked = message();
  await fresh.ledger().createOrders([asked]);
  const reader = createRequestReader(fresh.config, fresh.surroundings());
  const sku = { activityId: asked.activityId, skuId: asked.skuId };
  expect(await reader.lookup(sku, asked.requestId)).toMatchObject({ outcome: 'done', state: { userId: asked.userId, reservationId: asked.reservationId, reservationStatus: 10, orderStatus: 10, failureCode: null } });
  expect(await reader.lookup({ ...sku, skuId: '1' }, asked.requestId)).toEqual({ outcome: 'done', state: null });
  await reader.close();
  const gone = createRequestReader({ ...fresh.config, addresses: { ...fresh.config.addresses, postgres: { ...fresh.config.addresses.postgres, port: 1 } } }, fresh.surroundings());
  expect(await gone.lookup(sku, asked.requestId)).toMatchObject({ outcome: 'unavailable' });
  expect(await gone.ready()).toBe(false);
  await gone.close();
});
