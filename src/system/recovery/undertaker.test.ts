// The undertaker with Redis, PostgreSQL and the topic played by the test: whose reservation is ended, and how; what stays open.
import { expect, test } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { encodeDeadLetter, type DeadLetter, type DeadLetterCause } from '../../domain/dead-letter.js';
import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { CountingContext, record, ScriptedConsumer } from '../fulfilment/scripted-consumer.test-support.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { LookupReply, StockPort, StockRecord } from '../stock/stock-port.js';
import type { Ending } from './dead-letter-ending.js';
import type { DeadLetterStore, KeepOutcome } from './dead-letter-store.js';
import { startUndertaker } from './undertaker.js';

const ID = '0197f1d0-0000-7000-8000-00000000000a';
const OTHER = '0197f1d0-0000-7000-8000-00000000000b';
const namespace = namespaceOf('unit');

function letter(cause: DeadLetterCause, change: Partial<DeadLetter> = {}): DeadLetter {
  return {
    schemaVersion: 1, originTopic: namespace.ordersTopic, originPartition: 0, originOffset: '5', group: namespace.ordersGroup, cause, detail: 'x', attempts: 3, firstSeenAtMs: 1, deadAtMs: 2,
    messageId: ID, reservationId: ID, requestId: 'r-1', activityId: '10', skuId: '20', key: null, value: { encoding: 'utf8', text: '{}' }, valueBytes: 2, headers: {}, ...change,
  };
}

const known: StockRecord = {
  requestId: 'r-1', userId: '77', reservationId: ID, messageId: ID, payloadHash: 'a'.repeat(64), state: 'S', activityVersion: '1', purchaseNo: 1, reservedAtMs: 1_000, expiresAtMs: 9_000,
  orderId: null, reason: null, appliedVersion: 0, unitReturned: false,
};

async function start(answers: { lookups?: readonly LookupReply[]; keeps?: readonly KeepOutcome[] } = {}) {
  const consumer = new ScriptedConsumer();
  const asked: string[] = [];
  const kept: { readonly id: string; readonly ending: Ending | null }[] = [];
  const stock: Partial<StockPort> = {
    lookup: (sku, requestId) => {
      asked.push(`${sku.activityId}/${sku.skuId}/${requestId}`);
      return Promise.resolve(answers.lookups?.[asked.length - 1] ?? { outcome: 'done', record: known });
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const store: DeadLetterStore = {
    keep: ({ originTopic, originOffset }, _record, ending) => {
      kept.push({ id: `${originTopic}/${originOffset}`, ending });
      return Promise.resolve(answers.keeps?.[kept.length - 1] ?? { outcome: 'kept', resolution: ending === null ? null : 'RELEASED' });
    },
    open: () => Promise.resolve({ count: 0, oldestSeconds: 0 }),
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const logs: string[] = [];
  const metrics = createRoleMetrics('undertaker', 'undertaker-1');
  await startUndertaker({ stock: stock as StockPort, consumer, store, metrics }, { namespace, tuning: { ...DEFAULT_TUNING, deadLetterAttempts: 1 } } as RoleConfig, {
    clock: systemClock, observer: { reached: () => undefined }, log: (level, text, fields) => void logs.push(`${level} ${text} ${String(fields?.['result'] ?? '')}`.trim()),
  });
  const deliver = (each: DeadLetter | string, context?: CountingContext) => consumer.deliver([record(typeof each === 'string' ? each : encodeDeadLetter(each), 1)], context);
  return { consumer, deliver, asked, kept, logs, metrics };
}

test.each([['REFUSED', 'close'], ['MALFORMED', 'close'], ['ANOMALY', 'hand-over']] as const)('%s: the reservation that Redis knows is ended by %s, with what Redis knows', async (cause, how) => {
  const { deliver, kept, asked } = await start();
  await deliver(letter(cause));
  expect(asked).toEqual(['10/20/r-1']);
  expect(kept).toEqual([{ id: 'unit.orders/5', ending: { how, reservation: expect.objectContaining({ reservationId: ID, userId: '77', sku: { activityId: '10', skuId: '20' } }) as unknown } }]);
});

test.each([
  ['Redis holds another reservation under the request', letter('REFUSED', { reservationId: OTHER }), 1],
  ['the letter names no reservation', letter('MALFORMED', { reservationId: null }), 0],
  ['it was an event', letter('MALFORMED', { originTopic: namespace.eventsTopic }), 0],
])('nothing is ended where %s: the letter stays open', async (_why, each, lookups) => {
  const { deliver, kept, asked, logs } = await start();
  await deliver(each);
  expect([asked.length, kept.map(({ ending }) => ending)]).toEqual([lookups, [null]]);
  expect(logs).toEqual(['error dead letter laid to rest OPEN']);
});

test('what is no dead letter is kept as what it is, and never becomes one that comes here again', async () => {
  const { deliver, kept, metrics } = await start();
  await deliver('{"half": ');
  expect(kept).toEqual([{ id: 'orders/1', ending: null }]);
  expect(await metrics.text()).toMatch(/dead_letters_total\{class="malformed",result="OPEN".*\} 1/);
});

test('while Redis or PostgreSQL is away nothing is guessed and the offset stays', async () => {
  const { deliver, kept, asked } = await start({ lookups: [{ outcome: 'unknown', reason: 'away' }], keeps: [{ outcome: 'unavailable', reason: 'away' }] });
  const context = new CountingContext();
  await deliver(letter('REFUSED'), context);
  expect([asked.length, kept.length]).toEqual([3, 2]);
  expect(context.heartbeats).toBeGreaterThanOrEqual(4);
});

test('stopped with a letter in hand: it comes again', async () => {
  const { deliver, consumer } = await start({ lookups: [{ outcome: 'unknown', reason: 'away' }] });
  const context = new CountingContext();
  const delivered = deliver(letter('REFUSED'), context);
  context.running = false;
  await expect(delivered).rejects.toThrow('it comes again');
  expect(consumer.finished).toEqual([]);
});

test('an end that the database refuses leaves the letter open and the unit held', async () => {
  const { deliver, kept, logs } = await start({ keeps: [{ outcome: 'refused', reason: '23514' }] });
  await deliver(letter('REFUSED'));
  expect(kept.map(({ ending }) => ending?.how ?? null)).toEqual(['close', null]);
  expect(logs).toEqual(['error the reservation of a dead letter cannot be ended', 'error dead letter laid to rest OPEN']);
});

test.each([[true, 8, null], [false, 9, ID]] as const)('an end that PostgreSQL never takes (it answers: %s): the letter is kept without it, so that those behind it are not held up', async (answered, keeps, ended) => {
  const unavailable: KeepOutcome = { outcome: 'unavailable', reason: '40001 x', answered };
  const { deliver, kept } = await start({ keeps: Array.from({ length: answered ? 7 : 8 }, () => unavailable) });
  await deliver(letter('REFUSED'));
  expect(kept).toHaveLength(keeps);
  expect(kept.at(-1)?.ending?.reservation.reservationId ?? null).toBe(ended);
});
