// The consumer with a real PostgreSQL behind its own proxy: outages and lost COMMITs inside of a batch, and bad messages among good ones.
import type { Proxy } from 'toxiproxy-node-client';
import { afterEach, expect, test, vi } from 'vitest';

import { atStep, consumerLink, messages, openCase, type LedgerCase } from '../ledger/ledger-case.test-support.js';
import type { StepObserver } from '../../domain/steps.js';
import { CountingContext, KeptDeadLetters, record, recordsOf, ScriptedConsumer } from './scripted-consumer.test-support.js';
import { startConsumer } from './start-consumer.js';

const link = consumerLink();

async function setEnabled(enabled: boolean): Promise<void> {
  const proxy: Proxy = await link.proxy();
  await proxy.update({ ...proxy.toJson(), enabled });
}

afterEach(async () => {
  await setEnabled(true);
});

async function start(fresh: LedgerCase, observer?: StepObserver, deadLetters = new KeptDeadLetters()): Promise<ScriptedConsumer> {
  const consumer = new ScriptedConsumer();
  const spec = observer === undefined ? { throughProxy: true } : { throughProxy: true, observer };
  await startConsumer({ consumer, ledger: fresh.ledger(spec), deadLetters }, fresh.configFor(spec), fresh.surroundings(observer));
  return consumer;
}

const tries = (fresh: LedgerCase): number => fresh.logs.filter(({ text }) => text === 'orders not written' || text === 'COMMIT without an answer').length;

test('a PostgreSQL outage inside of a batch is waited out with heartbeats, and nothing is done twice', async () => {
  await using fresh = await openCase({ stock: 100, consumer: 'batch:10' });
  const deadLetters = new KeptDeadLetters();
  const consumer = await start(fresh, atStep('consumer.after-commit', async (hit) => {
    if (hit === 2) await setEnabled(false);
  }), deadLetters);
  const context = new CountingContext();
  const delivered = consumer.deliver(recordsOf(messages(50)), context);
  await vi.waitUntil(() => tries(fresh) >= 4, { timeout: 10_000 });
  expect(consumer.finished).toEqual([]);
  expect(await fresh.count('orders')).toBe(20);
  const heartbeats = context.heartbeats;
  await setEnabled(true);
  await delivered;
  expect(heartbeats).toBeGreaterThanOrEqual(4);
  expect(deadLetters.letters).toEqual([]);
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([50, 50, 50]);
});

test('an outage that outlasts the consumer leaves the offset where it was; the next owner finishes', async () => {
  await using fresh = await openCase({ stock: 100, consumer: 'batch:10' });
  const batch = recordsOf(messages(30));
  const consumer = await start(fresh, atStep('consumer.after-commit', async (hit) => {
    if (hit === 1) await setEnabled(false);
  }));
  const context = new CountingContext();
  const delivered = consumer.deliver(batch, context);
  await vi.waitUntil(() => tries(fresh) >= 2, { timeout: 10_000 });
  context.running = false;
  await expect(delivered).rejects.toThrow('come again');
  await setEnabled(true);
  const next = await start(fresh);
  await next.deliver(batch);
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([30, 30, 30]);
});

test('C27: an unanswered COMMIT inside of a batch is settled by the Inbox', async () => {
  await using fresh = await openCase({ stock: 100, consumer: 'batch:10', tuning: { postgresPoolSize: 1 } });
  const consumer = await start(fresh, atStep('consumer.before-commit', async (hit) => {
    const proxy = await link.proxy();
    if (hit === 2) await proxy.addToxic({ name: 'cut', type: 'limit_data', stream: 'downstream', toxicity: 1, attributes: { bytes: 0 } } as never);
  }));
  const delivered = consumer.deliver(recordsOf(messages(30)));
  await vi.waitUntil(() => tries(fresh) >= 1, { timeout: 10_000 });
  const proxy = await link.proxy();
  await (await proxy.getToxic('cut')).remove();
  await delivered;
  expect(fresh.logs.some(({ text }) => text === 'COMMIT without an answer')).toBe(true);
  expect([await fresh.count('orders'), await fresh.held(), await fresh.events()]).toEqual([30, 30, 30]);
});

test('C22: one malformed and one always-failing message among 1,000: 998 orders, and both are dead letters', async () => {
  await using fresh = await openCase({ stock: 2_000, consumer: 'batch:500' });
  await fresh.client.query(`create function no_order() returns trigger language plpgsql as $$ begin if new.request_id = 'bad' then raise exception 'not this one'; end if; return new; end $$;
    create trigger no_order before insert on orders for each row execute function no_order()`);
  const all = messages(999).map((asked, place) => (place === 777 ? { ...asked, requestId: 'bad' } : asked));
  const records = recordsOf(all);
  records.splice(123, 0, record('no message', 9_999));
  const deadLetters = new KeptDeadLetters();
  const consumer = await start(fresh, undefined, deadLetters);
  await consumer.deliver(records);
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([998, 998, 998]);
  expect(deadLetters.letters).toMatchObject([
    { offset: '777', cause: 'REFUSED', detail: 'P0001 not this one', attempts: 3 },
    { offset: '9999', cause: 'MALFORMED', attempts: 1 },
  ]);
  expect(await fresh.count('inventory_reservation', "request_id = 'bad'")).toBe(0);
});

test.each([
  ['in conflict', '40001'],
  ['too slow', '57014'],
])('C22: one message among 20 that is always %s: 19 orders, and it is a dead letter', async (_name, sqlState) => {
  await using fresh = await openCase({ stock: 200, consumer: 'batch:10', tuning: { deadLetterAttempts: 1 } });
  await fresh.client.query(`create function no_order() returns trigger language plpgsql as $$ begin if new.request_id = 'bad' then raise exception using errcode = '${sqlState}', message = 'not now'; end if; return new; end $$;
    create trigger no_order before insert on orders for each row execute function no_order()`);
  const deadLetters = new KeptDeadLetters();
  const consumer = await start(fresh, undefined, deadLetters);
  await consumer.deliver(recordsOf(messages(20).map((asked, place) => (place === 3 ? { ...asked, requestId: 'bad' } : asked))));
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([19, 19, 19]);
  expect(deadLetters.letters).toMatchObject([{ offset: '3', cause: 'ANOMALY', detail: `${sqlState} not now`, attempts: 7 }]);
});

test('a missing table is nobody\'s fault: the messages wait until it is there', async () => {
  await using fresh = await openCase({ stock: 10, consumer: 'batch:10' });
  const deadLetters = new KeptDeadLetters();
  await fresh.client.query('alter table order_items rename to order_items_away');
  const consumer = await start(fresh, undefined, deadLetters);
  const delivered = consumer.deliver(recordsOf(messages(5)));
  await vi.waitUntil(() => tries(fresh) >= 4, { timeout: 10_000 });
  await fresh.client.query('alter table order_items_away rename to order_items');
  await delivered;
  expect([await fresh.count('orders'), deadLetters.letters]).toEqual([5, []]);
});

test('single: a transaction per message, several at once, each order once', async () => {
  await using fresh = await openCase({ stock: 100, consumer: 'single' });
  const consumer = await start(fresh);
  const all = messages(60);
  await consumer.deliver(recordsOf([...all, ...all]));
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([60, 60, 60]);
});

test('C24: killed between Inbox and order, the redelivery makes the order', async () => {
  await using fresh = await openCase({ stock: 10, consumer: 'batch:10' });
  const batch = recordsOf(messages(5));
  const context = new CountingContext();
  const consumer = await start(fresh, atStep('consumer.after-inbox', async (hit) => {
    if (hit === 1) await setEnabled(false);
  }));
  const delivered = consumer.deliver(batch, context);
  await vi.waitUntil(() => tries(fresh) >= 1, { timeout: 10_000 });
  expect(await fresh.count('consumer_inbox')).toBe(0);
  await setEnabled(true);
  await delivered;
  expect([await fresh.count('orders'), await fresh.held(), await fresh.count('consumer_inbox')]).toEqual([5, 5, 5]);
});
