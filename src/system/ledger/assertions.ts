/**
 * Statements that find what must not be (paper 001 §13.3), in `sql/facts/assert_*.sql`: each returns the rows that break its rule, none when it
 * holds. They may run at any moment, on a primary or a replica, since every one is a single statement over one snapshot.
 */
import { readFileSync } from 'node:fs';

import type { ClientBase } from 'pg';

export const ASSERTIONS = [
  'assert_one_order_per_user', 'assert_inventory_rows_balanced', 'assert_planned_stock_kept', 'assert_orders_in_ledger',
  'assert_paid_not_cancelled', 'assert_orders_match_reservations', 'assert_tokens_match_orders',
] as const;
export type AssertionName = (typeof ASSERTIONS)[number];

export interface BrokenAssertion {
  readonly name: AssertionName;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export function assertionText(name: AssertionName): string {
  return readFileSync(new URL(`../../../sql/facts/${name}.sql`, import.meta.url), 'utf8');
}

/** Those that do not hold. Rejects when PostgreSQL does not answer. */
export async function brokenAssertions(client: ClientBase): Promise<readonly BrokenAssertion[]> {
  const broken: BrokenAssertion[] = [];
  for (const name of ASSERTIONS) {
    const { rows } = await client.query<Record<string, unknown>>(assertionText(name));
    if (rows.length > 0) broken.push({ name, rows });
  }
  return broken;
}
