// The consumer's loop without servers: chunks, tries, splitting, heartbeats, and when a batch counts as finished.
import { expect, test } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { namespaceOf } from '../../domain/namespace.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING, type ConsumerStrategy, type RoleConfig } from '../../domain/role-config.js';
import type { OrderLedger, TransactionOutcome } from '../ledger/ledger-port.js';
import type { RunningRole } from '../role.js';
import { CountingContext, KeptDeadLetters, record, recordsOf, ScriptedConsumer } from './scripted-consumer.test-support.js';
import { chunkSizeOf, startConsumer } from './start-consumer.js';

const hex = (number: number): string => number.toString(16).padStart(12, '0');

function messages(count: number): OrderMessage[] {
  return Array.from({ length: count }, (_, number) => ({
    schemaVersion: 1, messageId: `00000000-0000-7000-8000-${hex(number)}`, reservationId: `00000000-0000-7000-9000-${hex(number)}`, requestId: `r${String(number)}`,
    activityId: '1', activityVersion: '1', skuId: '1', userId: String(number + 1), purchaseNo: 1, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs: 1, expiresAtMs: 2,
  }));
}

const done = (batch: readonly OrderMessage[]): TransactionOutcome => ({
  outcome: 'committed',
  results: batch.map(({ messageId, reservationId }) => ({ messageId, reservationId, repeated: false, result: 'ORDER_CREATED', orderId: '1' })),
});

interface Run {
  readonly consumer: ScriptedConsumer;
  readonly role: RunningRole;
  readonly calls: (readonly OrderMessage[])[];
  readonly deadLetters: KeptDeadLetters;
  readonly logs: string[];
  readonly steps: { readonly step: string; readonly ids: readonly string[] }[];
  readonly rehearsals: { readonly orders: number; readonly batch: number; readonly joined: boolean }[];
  ready: boolean;
}

async function start(strategy: ConsumerStrategy, createOrders: (batch: readonly OrderMessage[], call: number) => TransactionOutcome | Promise<TransactionOutcome>, { deadLetterAttempts = DEFAULT_TUNING.deadLetterAttempts, rehearsedOrders = 0 }: { readonly deadLetterAttempts?: number; readonly rehearsedOrders?: number } = {}): Promise<Run> {
  const consumer = new ScriptedConsumer();
  const calls: (readonly OrderMessage[])[] = [];
  const deadLetters = new KeptDeadLetters();
  const logs: string[] = [];
  const steps: Run['steps'] = [];
  const rehearsals: Run['rehearsals'] = [];
  const run = { consumer, calls, deadLetters, logs, steps, rehearsals, ready: true };
  const ledger: OrderLedger = {
    createOrders: async (batch) => {
      calls.push(batch);
      return createOrders(batch, calls.length);
    },
    rehearse: (orders, batch) => {
      rehearsals.push({ orders, batch, joined: consumer.ready() });
      return Promise.resolve();
    },
    ready: () => Promise.resolve(run.ready),
    close: () => Promise.resolve(),
  };
  const config: RoleConfig = {
    role: 'consumer', instance: 'consumer-1', namespace: namespaceOf('unit'), listen: { host: '127.0.0.1', port: 0 }, activityId: '1', skuIds: ['1'],
    addresses: { redis: { host: '', port: 0 }, kafka: { host: '', port: 0 }, postgres: { host: '', port: 0, user: '', password: '' } },
    strategies: { consumer: strategy, allocator: 'token' }, tuning: { ...DEFAULT_TUNING, postgresPoolSize: 4, deadLetterAttempts, rehearsedOrders },
  };
  const role = await startConsumer({ consumer, ledger, deadLetters }, config, {
    clock: systemClock,
    observer: { reached: (step, ids) => { steps.push({ step, ids }); } },
    log: (_level, text) => { logs.push(text); },
  });
  return Object.assign(run, { role });
}

test('a batch is cut to transactions of N in order, and its two steps are announced', async () => {
  const run = await start('batch:500', done);
  const all = messages(1_200);
  await run.consumer.deliver(recordsOf(all));
  expect(run.calls.map((batch) => batch.length)).toEqual([500, 500, 200]);
  expect(run.calls.flat()).toEqual(all);
  expect(run.steps.map(({ step, ids }) => [step, ids.length])).toEqual([['consumer.received', 1_200], ['consumer.after-offset-commit', 1_200]]);
  expect(run.steps[1]?.ids[0]).toBe(all[0]?.reservationId);
});

test('orders are rehearsed where that is asked for, before the consumer joins its group', async () => {
  expect((await start('batch:200', done)).rehearsals).toEqual([]);
  const run = await start('batch:200', done, { rehearsedOrders: 1_000 });
  expect(run.rehearsals).toEqual([{ orders: 1_000, batch: 200, joined: false }]);
  expect(run.consumer.ready()).toBe(true);
});

test('what is unknown or not committed is handed over again unchanged, with heartbeats in between', async () => {
  const outcomes: TransactionOutcome[] = [{ outcome: 'unknown', reason: 'x' }, { outcome: 'not-committed', reason: 'x', slow: false }];
  const run = await start('batch:500', (batch, call) => outcomes[call - 1] ?? done(batch));
  const context = new CountingContext();
  await run.consumer.deliver(recordsOf(messages(3)), context);
  expect(run.calls).toHaveLength(3);
  expect(run.calls[2]).toEqual(run.calls[0]);
  expect(context.heartbeats).toBeGreaterThanOrEqual(5);
});

test('C20: one at a time in lanes; a batch with an unfinished message is never finished, and nothing runs on behind it', async () => {
  const context = new CountingContext();
  let running = 0;
  const run = await start('single', async (batch, call) => {
    running += 1;
    await new Promise(setImmediate);
    running -= 1;
    if (batch[0]?.requestId !== 'r2') return done(batch);
    if (call > 12) context.running = false;
    return { outcome: 'not-committed', reason: 'x', slow: false };
  });
  await expect(run.consumer.deliver(recordsOf(messages(12)), context)).rejects.toThrow('come again');
  expect(running).toBe(0);
  expect(run.consumer.finished).toEqual([]);
  expect(run.calls.every((batch) => batch.length === 1)).toBe(true);
});

test('a consumer that is told to stop leaves the rest of the batch', async () => {
  const context = new CountingContext();
  const run = await start('batch:2', (batch) => {
    context.running = false;
    return done(batch);
  });
  await expect(run.consumer.deliver(recordsOf(messages(6)), context)).rejects.toThrow('2 messages unfinished');
  expect(run.calls).toHaveLength(1);
});

test('C22: a malformed and an always-failing message among 1,000 spoil nobody else', async () => {
  const bad = 'r321';
  const run = await start('batch:500', (batch) => (batch.some(({ requestId }) => requestId === bad) ? { outcome: 'refused', reason: 'x' } : done(batch)));
  const records = recordsOf(messages(999));
  records.splice(100, 0, record('{"not": "a message"}', 5_000));
  await run.consumer.deliver(records);
  const created = new Set(run.calls.filter((batch) => !batch.some(({ requestId }) => requestId === bad)).flat().map(({ requestId }) => requestId));
  expect(created.size).toBe(998);
  expect(run.deadLetters.letters).toMatchObject([
    { offset: '321', cause: 'REFUSED', detail: 'x', attempts: 3 },
    { offset: '5000', cause: 'MALFORMED', attempts: 1 },
  ]);
  expect(run.steps.filter(({ step }) => step === 'consumer.after-dead-letter')).toHaveLength(2);
  // Halves, not one by one: about 2·log2(500) transactions more.
  expect(run.calls.length).toBeLessThan(25);
});

test('only what lies in the message itself counts: no outage and no missing table makes a dead letter', async () => {
  const ends: TransactionOutcome[] = [
    { outcome: 'refused', reason: 'x' }, { outcome: 'not-committed', reason: 'x', slow: false }, { outcome: 'refused', reason: '42P01', fault: 'schema' },
    { outcome: 'unknown', reason: 'x' }, { outcome: 'refused', reason: 'x' }, { outcome: 'not-committed', reason: 'x', slow: true },
  ];
  const run = await start('batch:500', (batch, call) => ends[call - 1] ?? done(batch));
  await run.consumer.deliver(recordsOf(messages(1)));
  expect(run.deadLetters.letters).toEqual([]);
  expect(run.calls).toHaveLength(7);
});

test('what the tables say against all rules is told apart from what a message brings', async () => {
  const run = await start('batch:500', () => ({ outcome: 'refused', reason: 'x', fault: 'tables' }));
  await run.consumer.deliver(recordsOf(messages(1)));
  expect(run.deadLetters.letters).toMatchObject([{ cause: 'ANOMALY', attempts: 3 }]);
});

const contested: TransactionOutcome = { outcome: 'not-committed', reason: '40001 x', slow: false, answered: true };
const includes = (batch: readonly OrderMessage[], requestId: string): boolean => batch.some((message) => message.requestId === requestId);

test('a message that PostgreSQL answers with a conflict each time holds nobody up, and is a dead letter when others were worked off beside it', async () => {
  const run = await start('batch:8', (batch) => (includes(batch, 'r2') ? contested : done(batch)), { deadLetterAttempts: 1 });
  await run.consumer.deliver(recordsOf(messages(8)));
  expect(run.deadLetters.letters).toMatchObject([{ offset: '2', cause: 'ANOMALY', detail: '40001 x', attempts: 7 }]);
  const withoutIt = run.calls.filter((batch) => !includes(batch, 'r2'));
  expect(withoutIt.flat().map(({ requestId }) => requestId).sort()).toEqual(['r0', 'r1', 'r3', 'r4', 'r5', 'r6', 'r7']);
  // Three tries together, one at each cut, then it waits behind the others.
  expect(run.calls.findLastIndex((batch) => !includes(batch, 'r2'))).toBeLessThan(12);
});

test.each<[string, TransactionOutcome]>([
  ['no answer of PostgreSQL', { outcome: 'not-committed', reason: 'x', slow: false }],
  ['a client that waited too long', { outcome: 'not-committed', reason: 'Query read timeout', slow: true, answered: false }],
  ['a COMMIT without an answer', { outcome: 'unknown', reason: 'x' }],
  ['a conflict, but nobody else was worked off', contested],
])('%s makes no dead letter, however often', async (_name, outcome) => {
  const context = new CountingContext();
  const run = await start('batch:8', (_batch, call) => {
    if (call > 8) context.running = false;
    return outcome;
  }, { deadLetterAttempts: 1 });
  await expect(run.consumer.deliver(recordsOf(messages(1)), context)).rejects.toThrow('come again');
  expect(run.deadLetters.letters).toEqual([]);
});

const bug = (): never => { throw new TypeError('x is not a function'); };

test('a message that only a bug of the consumer meets is a dead letter; the others become orders', async () => {
  const run = await start('batch:500', (batch) => (includes(batch, 'r2') ? bug() : done(batch)));
  await run.consumer.deliver(recordsOf(messages(8)));
  expect(run.deadLetters.letters).toMatchObject([{ offset: '2', cause: 'ANOMALY', detail: 'TypeError: x is not a function', attempts: 3 }]);
  expect(run.calls.filter((batch) => !includes(batch, 'r2')).flat()).toHaveLength(7);
});

test.each<[string, (batch: readonly OrderMessage[]) => TransactionOutcome]>([
  ['everybody', bug],
  ['every new message', (batch) => {
    const outcome = done(batch);
    return batch.length > 1 || includes(batch, 'r2') || outcome.outcome !== 'committed' ? bug() : { outcome: 'committed', results: outcome.results.map((result) => ({ ...result, repeated: true })) };
  }],
])('a bug that %s meets is nobody\'s dead letter', async (_name, createOrders) => {
  const run = await start('batch:500', createOrders);
  await expect(run.consumer.deliver(recordsOf(messages(4)))).rejects.toThrow('x is not a function');
  expect(run.deadLetters.letters).toEqual([]);
});

test('a dead letter that cannot be stored keeps the offset where it is', async () => {
  const run = await start('batch:500', () => ({ outcome: 'refused', reason: 'x' }));
  run.deadLetters.bury = () => Promise.reject(new Error('the broker is away'));
  await expect(run.consumer.deliver(recordsOf(messages(1)))).rejects.toThrow('the broker is away');
  expect(run.consumer.finished).toEqual([]);
});

test('a batch that runs into its time bound is cut in halves', async () => {
  const run = await start('batch:8', (batch) => (batch.length > 2 ? { outcome: 'not-committed', reason: 'x', slow: true } : done(batch)));
  await run.consumer.deliver(recordsOf(messages(8)));
  expect(run.calls.map((batch) => batch.length)).toEqual([8, 4, 2, 2, 4, 2, 2]);
});

test('a lost membership ends the batch, but only after the transaction at hand', async () => {
  const context = new CountingContext();
  context.lostWith = new Error('REBALANCE_IN_PROGRESS');
  const run = await start('batch:500', done);
  await expect(run.consumer.deliver(recordsOf(messages(3)), context)).rejects.toThrow('REBALANCE_IN_PROGRESS');
  expect(run.calls).toHaveLength(1);
  expect(run.consumer.finished).toEqual([]);
});

test('health names what is missing, a dead consumer is fatal, stop ends both', async () => {
  const run = await start('batch:500', done);
  expect(await run.role.health()).toEqual([]);
  run.ready = false;
  expect(await run.role.health()).toEqual(['PostgreSQL does not answer']);
  run.consumer.die(new Error('crashed'));
  expect((await run.role.fatal).message).toBe('crashed');
  await run.role.stop();
  expect(run.consumer.stopped).toBe(true);
});

test.each([['batch:0'], ['batch:1.5'], ['batch:9999'], ['batch:x']])('%s is no batch size', (strategy) => {
  expect(() => chunkSizeOf(strategy as ConsumerStrategy)).toThrow('1 to 5000');
});
