/** Harvest of PostgreSQL: every table of the ledger in one REPEATABLE READ snapshot, by the statements in `sql/facts/`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Client } from 'pg';

import type { PostgresFacts } from '../../facts/store-facts.js';
import { packageRoot } from '../package-root.js';

/** Fields that are numbers in the facts; everything else stays the text PostgreSQL printed. */
const NUMBER_FIELDS = new Set([
  'purchaseNo', 'inventoryBucket', 'status', 'createdAtUs', 'committedAtUs', 'version', 'expiresAtUs', 'bucketNo', 'total', 'available',
  'allocated', 'type', 'availableDelta', 'allocatedDelta', 'beforeAvailable', 'afterAvailable', 'beforeAllocated', 'afterAllocated',
  'aggregateVersion', 'retryCount', 'availableAtUs', 'nextRunAtUs', 'items', 'expireAtUs', 'paidAtUs', 'cancelledAtUs', 'originPartition', 'attempts',
]);

const TABLES = {
  orders: 'orders',
  reservations: 'reservations',
  inventory: 'inventory',
  tokens: 'tokens',
  ledger: 'ledger',
  inbox: 'inbox',
  outbox: 'outbox',
  compensations: 'compensations',
  payments: 'payments',
  unmatchedPayments: 'unmatched_payments',
  deadLetters: 'dead_letters',
  itemMismatches: 'item_mismatches',
} as const satisfies Record<keyof PostgresFacts, string>;

function factRow(table: string, row: Record<string, unknown>): Record<string, unknown> {
  const fact: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) {
    // `type` of an Outbox row is a word, of a ledger entry a number.
    if (value !== null && NUMBER_FIELDS.has(field) && !(table === 'outbox' && field === 'type')) {
      const number = Number(value);
      if (!Number.isSafeInteger(number)) throw new Error(`sql/facts/${table}.sql: ${field} is ${JSON.stringify(value)}, not a whole number`);
      fact[field] = number;
    } else {
      fact[field] = value;
    }
  }
  return fact;
}

/** Rejects when the snapshot cannot be read whole: half a table is no evidence. */
export async function harvestPostgres(client: Client): Promise<PostgresFacts> {
  const facts: Record<string, unknown[]> = {};
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    for (const [key, table] of Object.entries(TABLES)) {
      const statement = readFileSync(join(packageRoot(), 'sql', 'facts', `${table}.sql`), 'utf8');
      const result = await client.query<Record<string, unknown>>(statement);
      facts[key] = result.rows.map((row) => factRow(table, row));
    }
  } finally {
    await client.query('COMMIT');
  }
  return facts as unknown as PostgresFacts;
}
