// The wrong statements and the wrong script against real servers: they run, and they are wrong in the way they mean to be.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

import { committed, message, openCase } from '../system/ledger/ledger-case.test-support.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { freshStock, SKU } from '../system/stock/fresh-stock.test-support.js';
import { inboxOff } from './inbox-off.js';
import { noUniqueKey } from './no-unique-key.js';

test('inbox-off: messages take effect and leave no Inbox row', async () => {
  await using fresh = await openCase({ stock: 1 });
  const ledger = fresh.ledger({ overrides: { statements: loadStatements(inboxOff.overrides(fresh.config).statements) } });
  const [winner, loser] = [message(), message()];
  expect(committed(await ledger.createOrders([winner, loser])).map(({ result }) => result)).toEqual(['ORDER_CREATED', 'REJECTED_NO_FINAL_STOCK']);
  // A copy is not recognised as one; only the reservation row stops it.
  expect(committed(await ledger.createOrders([winner]))).toMatchObject([{ result: 'ALREADY_ORDERED', repeated: false }]);
  expect(await fresh.count('consumer_inbox')).toBe(0);
  expect(await fresh.count('orders')).toBe(1);
});

test('no-unique-key: the same user reserves twice and gets two orders', async () => {
  await using shop = await freshStock(10);
  const scripts = noUniqueKey.overrides({ role: 'gateway' } as Parameters<typeof noUniqueKey.overrides>[0]).scripts ?? {};
  const stock = await shop.connect({ scripts });
  const request = (requestId: string) => ({ requestId, userId: '77', payloadHash: 'ab'.repeat(32), reservationId: randomUUID(), messageId: randomUUID(), reservedAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 });
  const codes: string[] = [];
  for (const id of ['a', 'b']) {
    const reply = await stock.reserve(SKU, [request(id)]);
    codes.push(...(reply.outcome === 'done' ? reply.decisions.map(({ code }) => code) : [reply.outcome]));
  }
  expect(codes).toEqual(['RESERVED', 'RESERVED']);

  await using fresh = await openCase({ stock: 10 });
  for (const statement of noUniqueKey.sql) await fresh.client.query(statement);
  const ledger = fresh.ledger();
  for (const requestId of ['a', 'b']) await ledger.createOrders([message({ userId: '77', requestId })]);
  expect(await fresh.count('orders', 'user_id = 77')).toBe(2);
});
