// The assertion statements: silent over sound books, and each of them speaks when its rule is broken by hand.
import { expect, test } from 'vitest';

import { ASSERTIONS, brokenAssertions, type AssertionName } from './assertions.js';
import { messages, openCase } from './ledger-case.test-support.js';

/** Breaks one rule, past the constraints where there are any. */
const BREAK: Readonly<Record<AssertionName, string>> = {
  assert_one_order_per_user: 'alter table orders drop constraint uq_orders_user_sku; update orders set user_id = 1',
  assert_inventory_rows_balanced: 'alter table sku_inventory drop constraint ck_inventory_conservation; update sku_inventory set available_stock = available_stock + 1',
  assert_planned_stock_kept: 'delete from inventory_token where status = 0',
  assert_orders_in_ledger: 'delete from inventory_ledger where ledger_id = (select min(ledger_id) from inventory_ledger)',
  assert_paid_not_cancelled: 'update orders set status = 40, cancelled_at = now(), paid_at = now() where order_id = (select min(order_id) from orders)',
  assert_orders_match_reservations: 'update inventory_reservation set status = 40, released_at = now() where order_id = (select min(order_id) from orders)',
  assert_tokens_match_orders: 'update inventory_token set status = 20 where status = 10',
};

test.each(ASSERTIONS)('%s', async (name) => {
  await using fresh = await openCase({ stock: 5 });
  await fresh.ledger().createOrders(messages(3));
  expect(await brokenAssertions(fresh.client)).toEqual([]);
  await fresh.client.query(BREAK[name]);
  const broken = await brokenAssertions(fresh.client);
  expect(broken.map((one) => one.name)).toContain(name);
  expect(broken.find((one) => one.name === name)?.rows.length).toBeGreaterThan(0);
});
