/**
 * What a payment asks is found by its key whatever the planner knows. A flash sale begins with empty tables, and a plan that a session keeps from that moment stays until
 * somebody analyzes: one that walks an index of which only the provider fits reads every payment of the sale for each callback.
 */
import { expect, test } from 'vitest';

import { openCase } from '../ledger/ledger-case.test-support.js';
import { loadStatements, type CommandName } from '../ledger/sql-loader.js';

/** The only index that tells the row apart, and values of the statement's parameters. */
const INDEX_OF: Readonly<Partial<Record<CommandName, readonly [index: string, values: string]>>> = {
  load_order: ['orders_pkey', '1'],
  find_payments_of_order: ['idx_payment_order_created', '1'],
  find_payment_by_trade: ['uq_payment_provider_trade', "'fake', 't'"],
  find_payment_callback: ['pk_payment_callback', "'fake', 'c'"],
  find_contradicting_callback: ['idx_callback_trade', "'fake', 't', '1', 1, 'CNY'"],
  end_payment_queries: ['payment_record_pkey', "'00000000-0000-0000-0000-000000000000', 1"],
};

test('statements of a payment are planned by their key on empty tables', async () => {
  await using fresh = await openCase({ stock: 1 });
  const statements = loadStatements();
  await fresh.client.query('SET plan_cache_mode = force_generic_plan');
  for (const [name, [index, values]] of Object.entries(INDEX_OF)) {
    await fresh.client.query(`PREPARE ${name} AS ${statements[name as CommandName].text}`);
    const { rows } = await fresh.client.query<Record<'QUERY PLAN', string>>(`EXPLAIN EXECUTE ${name} (${values})`);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n'), name).toMatch(new RegExp(`Index (Only )?Scan using ${index} `));
  }
});
