// A rehearsal runs the whole order transaction and leaves nothing; the first real order comes after it as if it had not been.
import { expect, test } from 'vitest';

import { committed, message, openCase } from './ledger-case.test-support.js';
import { loadStatements } from './sql-loader.js';

const TABLES = ['orders', 'order_items', 'inventory_reservation', 'inventory_ledger', 'consumer_inbox', 'event_outbox'];

test.each(['token', 'row'] as const)('allocator %s: nothing is left of it, and nothing counted', async (allocator) => {
  await using fresh = await openCase({ stock: 3, allocator });
  const observed: string[] = [];
  const ledger = fresh.ledger({ observer: { reached: (step) => { observed.push(step); } } });
  await ledger.rehearse?.(100, 500);
  expect(fresh.logs).toEqual([]);
  expect(observed).toEqual([]);
  for (const table of TABLES) expect(await fresh.count(table), table).toBe(0);
  expect([await fresh.count('seckill_activity'), await fresh.count('seckill_sku'), await fresh.count('sku_inventory'), await fresh.count('inventory_token')]).toEqual([1, 1, 1, 3]);
  // It did reach the last statement: dead rows of the Outbox are its trace.
  expect(Number((await fresh.one<{ pages: string }>("select pg_relation_size('event_outbox') as pages")).pages)).toBeGreaterThan(0);
  expect(committed(await ledger.createOrders([message()]))[0]?.result).toBe('ORDER_CREATED');
  expect(await fresh.count('orders')).toBe(1);
});

test('what cannot be rehearsed is told of, and hinders nobody', async () => {
  await using fresh = await openCase({ stock: 3 });
  const ledger = fresh.ledger({ overrides: { statements: loadStatements({ insert_orders: 'SELECT 1 / 0' }) } });
  await ledger.rehearse?.(100, 500);
  expect(fresh.logs.map(({ level, text }) => [level, text])).toEqual([['warn', 'orders could not be rehearsed']]);
  expect(await fresh.count('consumer_inbox')).toBe(0);
});
