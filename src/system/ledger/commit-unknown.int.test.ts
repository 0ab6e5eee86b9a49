// C27: the connection fails between COMMIT and its answer. Both truths look alike to the client; the Inbox tells them apart.
import type { Toxic } from 'toxiproxy-node-client';
import { afterEach, describe, expect, test } from 'vitest';

import { atStep, committed, consumerLink, message, messages, openCase, type LedgerCase } from './ledger-case.test-support.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderLedger } from './ledger-port.js';

const link = consumerLink();
let toxic: Toxic<object> | null = null;

afterEach(async () => {
  await heal();
});

async function heal(): Promise<void> {
  await toxic?.remove();
  toxic = null;
}

async function arm(type: 'limit_data' | 'timeout' | 'reset_peer', stream: 'upstream' | 'downstream'): Promise<void> {
  const attributes = type === 'limit_data' ? { bytes: 0 } : { timeout: 0 };
  toxic = await (await link.proxy()).addToxic({ name: 'cut', type, stream, toxicity: 1, attributes });
}

/** Cuts each time COMMIT is about to be sent. */
function cutting(fresh: LedgerCase, type: 'limit_data' | 'timeout' | 'reset_peer', stream: 'upstream' | 'downstream'): OrderLedger {
  return fresh.ledger({ throughProxy: true, observer: atStep('consumer.before-commit', async () => {
    if (armed) await arm(type, stream);
  }) });
}

let armed = false;
async function cutOnce(ledger: OrderLedger, batch: readonly OrderMessage[]): Promise<void> {
  armed = true;
  const outcome = await ledger.createOrders(batch);
  armed = false;
  expect(outcome.outcome).toBe('unknown');
  await heal();
}

describe.each([
  ['limit_data', 'downstream', true],
  ['timeout', 'downstream', true],
  ['reset_peer', 'downstream', true],
  ['limit_data', 'upstream', false],
  ['timeout', 'upstream', false],
] as const)('%s %s', (type, stream, wasCommitted) => {
  test(`COMMIT without an answer is unknown; the same batch again ${wasCommitted ? 'finds its work done' : 'does it'}`, async () => {
    await using fresh = await openCase({ stock: 5, tuning: { postgresPoolSize: 1 } });
    const ledger = cutting(fresh, type, stream);
    const batch = messages(3);
    await cutOnce(ledger, batch);
    expect(await fresh.count('orders')).toBe(wasCommitted ? 3 : 0);
    const results = committed(await ledger.createOrders(batch));
    expect(results.map(({ result, repeated }) => [result, repeated])).toEqual(batch.map(() => ['ORDER_CREATED', wasCommitted]));
    expect([await fresh.count('orders'), await fresh.count('inventory_ledger'), await fresh.held(), await fresh.events()]).toEqual([3, 3, 3, 3]);
  });
});

test.each(['token', 'row'] as const)('fifty cuts in a row, committed and not, allocator %s: each order once', async (allocator) => {
  await using fresh = await openCase({ stock: 60, allocator, tuning: { postgresPoolSize: 1 } });
  const done = cutting(fresh, 'limit_data', 'downstream');
  const undone = cutting(fresh, 'limit_data', 'upstream');
  for (let round = 0; round < 25; round++) {
    for (const ledger of [done, undone]) {
      const asked = message();
      await cutOnce(ledger, [asked]);
      committed(await ledger.createOrders([asked]));
    }
  }
  expect([await fresh.count('orders'), await fresh.count('inventory_ledger'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([50, 50, 50, 50]);
});

test('a backend that is ended before COMMIT leaves nothing behind, and a COMMIT answered ROLLBACK is a failure', async () => {
  await using fresh = await openCase({ stock: 5 });
  const ended = fresh.ledger({ observer: atStep('consumer.after-outbox', async (hit) => {
    if (hit === 1) await fresh.client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()', ['consumer-1']);
  }) });
  const asked = message();
  const outcome = await ended.createOrders([asked]);
  expect(outcome.outcome).not.toBe('committed');
  expect(await fresh.count('orders')).toBe(0);
  expect(committed(await ended.createOrders([asked]))[0]?.repeated).toBe(false);
});

test('a COMMIT answered ROLLBACK is a failure', async () => {
  await using fresh = await openCase({ stock: 5 });
  const { createPool } = await import('./pool.js');
  const { inTransaction } = await import('./transaction.js');
  const { loadStatements } = await import('./sql-loader.js');
  const pool = createPool({ address: fresh.config.addresses.postgres, database: fresh.config.namespace.database, applicationName: 'test', max: 1 }, fresh.surroundings());
  fresh.closeAtEnd(() => pool.end());
  // The body swallows the error that failed the transaction, as careless code would.
  const end = await inTransaction(pool, loadStatements(), (transaction) => transaction.run('load_sku_terms', [['not a number'], ['1']]).catch(() => undefined));
  expect(end).toMatchObject({ end: 'not-committed' });
  expect(String(end.end === 'not-committed' && end.error)).toContain('COMMIT was answered ROLLBACK');
});
