/** Every answer of submit and query, against ports made by hand. */
import { afterEach, describe, expect, test, vi } from 'vitest';

import { HTTP_STATUS_OF } from '../../domain/answer.js';
import { parseOrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING } from '../../domain/role-config.js';
import type { StepName } from '../../domain/steps.js';
import { silentStepObserver } from '../../domain/steps.js';
import type { DurableLookup, DurableRequestState } from '../ledger/ledger-port.js';
import type { LogMessage, SendResult } from '../order-log/order-log-port.js';
import type { LookupReply, ReserveDecision, ReserveReply, ReserveRequest, SkuMeta, StockPort, StockRecord } from '../stock/stock-port.js';
import { createAdmission, createRateLimit } from './admission.js';
import { createQuery } from './query.js';
import { createSubmit, createSubmitter } from './submit.js';
import { payloadHashOf, type RawReservation } from './validate.js';

const NOW_MS = 1_700_000_000_000;
const SKU = { activityId: '7', skuId: '70' };
const META: SkuMeta = { activityVersion: '3', startAtMs: NOW_MS - 1_000, endAtMs: NOW_MS + 1_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' };
const LOCATION = '/v1/activities/7/skus/70/requests/r-1';
const RAW: RawReservation = { ...SKU, requestId: 'r-1', userId: '42', body: '{"quantity":1}' };

function recordOf(request: Partial<ReserveRequest>, fields: Partial<StockRecord> = {}): StockRecord {
  return {
    requestId: 'r-1', userId: '42', payloadHash: payloadHashOf(null), reservationId: '018f0000-0000-7000-8000-000000000001', messageId: '018f0000-0000-7000-8000-000000000002',
    state: 'P', activityVersion: '3', purchaseNo: 1, reservedAtMs: NOW_MS, expiresAtMs: NOW_MS + 1, orderId: null, reason: null, appliedVersion: 0, unitReturned: false, ...request, ...fields,
  };
}
const decide = (code: ReserveDecision['code'], record: StockRecord | null = null) => (): ReserveReply => ({ outcome: 'done', decisions: [{ code, record, stockLeft: 1 }] });

interface World {
  meta?: SkuMeta | null | 'gone';
  reserve?: (requests: readonly ReserveRequest[]) => ReserveReply | Promise<ReserveReply>;
  send?: SendResult;
  lookup?: LookupReply;
  durable?: DurableLookup;
  maxInFlight?: number;
  durablePerSecond?: number;
}

function gatewayIn(world: World) {
  const sent: { topic: string; message: LogMessage }[] = [];
  const marked: string[] = [];
  const steps: [StepName, readonly string[]][] = [];
  const reserved: ReserveRequest[] = [];
  const stock: StockPort = {
    reserve(_sku, requests) {
      reserved.push(...requests);
      const reply = world.reserve?.(requests) ?? { outcome: 'done', decisions: requests.map((request) => ({ code: 'RESERVED', record: recordOf(request), stockLeft: 1 })) };
      return Promise.resolve(reply);
    },
    markSent: (_sku, ids) => {
      marked.push(...ids);
      return Promise.resolve('done');
    },
    lookup: () => Promise.resolve(world.lookup ?? { outcome: 'done', record: null }),
    meta: () => Promise.resolve(world.meta === 'gone' ? { outcome: 'unknown', reason: 'gone' } : { outcome: 'done', meta: world.meta === undefined ? META : world.meta }),
    claimPending: () => Promise.reject(new Error('not here')),
    project: () => Promise.reject(new Error('not here')),
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const producer = {
    send: (topic: string, message: LogMessage) => {
      sent.push({ topic, message });
      return Promise.resolve<SendResult>(world.send ?? { outcome: 'sent', reason: null });
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const config = { activityId: SKU.activityId, skuIds: [SKU.skuId], tuning: { ...DEFAULT_TUNING, maxInFlight: world.maxInFlight ?? DEFAULT_TUNING.maxInFlight }, namespace: { ordersTopic: 'orders' } };
  const observer = { reached: (step: StepName, ids: readonly string[]) => void steps.push([step, ids]) };
  const submit = createSubmit({
    stock, producer, admission: createAdmission(world.maxInFlight ?? 10), config, surroundings: { clock: { nowMs: () => NOW_MS }, observer, log: () => undefined },
  });
  const query = createQuery({
    stock, reader: { lookup: () => Promise.resolve(world.durable ?? { outcome: 'done', state: null }) }, admission: createAdmission(world.maxInFlight ?? 10),
    durableLimit: createRateLimit(0, world.durablePerSecond ?? 10, () => 0), config,
  });
  return { submit, query, sent, marked, steps, reserved, stock, producer, config };
}

const terminal = { orderId: '900', reason: null };
const submitted: readonly (readonly [string, World, Partial<RawReservation>, { status: number; code: string; location?: boolean; reserves?: boolean; sends?: boolean; marks?: boolean; [field: string]: unknown }])[] = [
  ['reserved and sent', {}, {}, { status: 202, code: 'QUEUED', location: true, reserves: true, sends: true, marks: true }],
  ['the broker surely has nothing', { send: { outcome: 'surely-not-sent', reason: 'x' } }, {}, { status: 202, code: 'QUEUED_PENDING_MESSAGE', location: true, reserves: true, sends: true }],
  ['the send is unknown', { send: { outcome: 'unknown', reason: 'x' } }, {}, { status: 202, code: 'QUEUED_PENDING_MESSAGE', location: true, reserves: true, sends: true }],
  ['the reserve is unknown', { reserve: () => ({ outcome: 'unknown', reason: 'cut' }) }, {}, { status: 503, code: 'RESULT_UNKNOWN', location: true, reserves: true, reservationId: null }],
  ['the reserve rejects (a bug)', { reserve: () => Promise.reject(new Error('bug')) }, {}, { status: 503, code: 'RESULT_UNKNOWN', location: true, reserves: true, reservationId: null }],
  ['the reserve surely did not happen', { reserve: () => ({ outcome: 'surely-not-done', reason: 'refused' }) }, {}, { status: 503, code: 'UNAVAILABLE', reserves: true }],
  ['nothing is warm', { reserve: decide('NOT_READY') }, {}, { status: 503, code: 'UNAVAILABLE', reserves: true }],
  ['another epoch, twice', { reserve: decide('EPOCH_MISMATCH') }, {}, { status: 503, code: 'PAUSED', reserves: true }],
  ['another Redis, or one that is being rebuilt', { reserve: decide('PAUSED') }, {}, { status: 503, code: 'PAUSED', reserves: true }],
  ['sold out', { reserve: decide('SOLD_OUT') }, {}, { status: 410, code: 'SOLD_OUT', reserves: true, reservationId: null }],
  ['the user has one', { reserve: decide('USER_HAS_ONE', recordOf({ requestId: 'other' })) }, {}, { status: 409, code: 'USER_HAS_ONE', reserves: true, reservationId: null }],
  ['another payload or user', { reserve: decide('IDEMPOTENCY_CONFLICT') }, {}, { status: 409, code: 'IDEMPOTENCY_CONFLICT', reserves: true, reservationId: null }],
  ['a repeat, not handed off yet', { reserve: decide('REPEATED', recordOf({})) }, {}, { status: 200, code: 'QUEUED_PENDING_MESSAGE', location: true, reserves: true }],
  ['a repeat, handed off', { reserve: decide('REPEATED', recordOf({}, { state: 'S' })) }, {}, { status: 200, code: 'QUEUED', location: true, reserves: true }],
  ['a repeat, ordered', { reserve: decide('REPEATED', recordOf({}, { state: 'O', ...terminal })) }, {}, { status: 200, code: 'ORDERED', orderId: '900', location: true, reserves: true }],
  ['a repeat, rejected', { reserve: decide('REPEATED', recordOf({}, { state: 'R', reason: 'REJECTED_EXPIRED' })) }, {}, { status: 200, code: 'REJECTED', reason: 'REJECTED_EXPIRED', location: true, reserves: true }],
  ['a repeat, released', { reserve: decide('REPEATED', recordOf({}, { state: 'L', reason: 'PAY_TIMEOUT' })) }, {}, { status: 200, code: 'RELEASED', reason: 'PAY_TIMEOUT', location: true, reserves: true }],
  ['before the window', { meta: { ...META, startAtMs: NOW_MS + 5_000 } }, {}, { status: 425, code: 'NOT_STARTED', retryAfterMs: 5_000 }],
  ['after the window', { meta: { ...META, endAtMs: NOW_MS } }, {}, { status: 403, code: 'ENDED' }],
  ['stopped', { meta: { ...META, status: 'stopped' } }, {}, { status: 403, code: 'ENDED' }],
  ['after the window, his own accepted request', { meta: { ...META, endAtMs: NOW_MS }, lookup: { outcome: 'done', record: recordOf({}, { state: 'O', ...terminal }) } }, {}, { status: 200, code: 'ORDERED', location: true }],
  ['after the window, another\'s request', { meta: { ...META, endAtMs: NOW_MS }, lookup: { outcome: 'done', record: recordOf({ userId: '43' }) } }, {}, { status: 403, code: 'ENDED', reservationId: null }],
  ['after the window, another payload', { meta: { ...META, endAtMs: NOW_MS }, lookup: { outcome: 'done', record: recordOf({ payloadHash: 'ff' }) } }, {}, { status: 403, code: 'ENDED', reservationId: null }],
  ['no meta in Redis', { meta: null }, {}, { status: 503, code: 'UNAVAILABLE' }],
  ['Redis gone before the window is known', { meta: 'gone' }, {}, { status: 503, code: 'UNAVAILABLE' }],
  ['full', { maxInFlight: 0 }, {}, { status: 429, code: 'LIMITED' }],
  ['an activity that is not here', {}, { activityId: '8' }, { status: 404, code: 'NOT_FOUND' }],
  ['a SKU that is not here', {}, { skuId: '71' }, { status: 404, code: 'NOT_FOUND' }],
  ['quantity 2', {}, { body: '{"quantity":2}' }, { status: 400, code: 'INVALID' }],
];

afterEach(() => {
  vi.useRealTimers();
});

describe('submit', () => {
  test.each(submitted)('%s', async (_name, world, raw, expected) => {
    const gateway = gatewayIn(world);
    const { httpStatus, answer, location } = await gateway.submit({ ...RAW, ...raw });
    const { status, code, location: hasLocation = false, reserves = false, sends = false, marks = false, ...fields } = expected;
    expect({ status: httpStatus, code: answer.code, location }).toEqual({ status, code, location: hasLocation ? LOCATION : null });
    expect(answer).toMatchObject(fields);
    expect(gateway.reserved.length > 0).toBe(reserves);
    expect(gateway.sent.length > 0).toBe(sends);
    expect(gateway.marked.length > 0).toBe(marks);
    if (status >= 400) expect(HTTP_STATUS_OF[answer.code]).toBe(status);
  });

  test('the message carries the ids that the reserve call stored, and the steps come in order with the reservation id', async () => {
    const gateway = gatewayIn({});
    const { answer } = await gateway.submit(RAW);
    const [request] = gateway.reserved;
    const [message] = gateway.sent;
    const parsed = parseOrderMessage(message?.message.value ?? '');
    expect(parsed).toMatchObject({
      ok: true,
      message: { reservationId: request?.reservationId, messageId: request?.messageId, userId: '42', requestId: 'r-1', activityVersion: '3', payloadHash: payloadHashOf(null), reservedAtMs: NOW_MS, expiresAtMs: NOW_MS + DEFAULT_TUNING.reservationTtlMs },
    });
    expect(message).toMatchObject({ topic: 'orders', message: { key: request?.reservationId } });
    expect(answer.reservationId).toBe(request?.reservationId);
    expect(gateway.steps).toEqual(
      ['admitted', 'before-reserve', 'after-reserve', 'before-send', 'after-send', 'after-mark-sent', 'before-reply'].map((step) => [`gateway.${step}`, [request?.reservationId]]),
    );
  });

  test('a call that reserved nothing does not announce after-reserve; an unknown one does', async () => {
    const stepsOf = async (world: World): Promise<string[]> => {
      const gateway = gatewayIn(world);
      await gateway.submit(RAW);
      return gateway.steps.map(([step]) => step);
    };
    expect(await stepsOf({ reserve: decide('SOLD_OUT') })).not.toContain('gateway.after-reserve');
    expect(await stepsOf({ reserve: () => ({ outcome: 'unknown', reason: 'x' }) })).toContain('gateway.after-reserve');
  });

  test('C3: the in-flight bound is given back on every path', async () => {
    for (const [, world, raw] of submitted.filter(([name]) => name !== 'full')) {
      const gateway = gatewayIn({ ...world, maxInFlight: 1 });
      await gateway.submit({ ...RAW, ...raw });
      expect((await gateway.submit({ ...RAW, ...raw })).answer.code).not.toBe('LIMITED');
    }
  });

  test('a winner who hammers his own id does not fill the line in front of Redis: others are served, and he hears his state each time', async () => {
    let open = (): void => undefined;
    let slow: Promise<void> = Promise.resolve();
    const gateway = gatewayIn({
      maxInFlight: 10,
      reserve: async (requests) => {
        await slow;
        return { outcome: 'done', decisions: requests.map((request) => ({ code: gateway.reserved.some((other) => other !== request && other.requestId === request.requestId) ? 'REPEATED' : 'RESERVED', record: recordOf(request), stockLeft: 1 })) };
      },
    });
    expect((await gateway.submit(RAW)).answer.code).toBe('QUEUED');
    slow = new Promise((resolve) => { open = resolve; });
    const repeats = Array.from({ length: 1_000 }, async () => gateway.submit(RAW));
    const others = Array.from({ length: 9 }, async (_value, index) => gateway.submit({ ...RAW, requestId: `o-${String(index)}`, userId: String(100 + index) }));
    await new Promise((resolve) => setTimeout(resolve, 5));
    open();
    expect(new Set((await Promise.all(others)).map(({ answer }) => answer.code))).toEqual(new Set(['QUEUED']));
    expect(new Set((await Promise.all(repeats)).map(({ httpStatus, answer }) => `${String(httpStatus)} ${answer.code}`))).toEqual(new Set(['200 QUEUED_PENDING_MESSAGE']));
    expect(gateway.reserved.filter(({ requestId }) => requestId === 'r-1')).toHaveLength(3);
  });

  test('with a linger a winner hears his answer before his message is made, a closing gateway hands it off first, and one that goes on does so when the linger is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
    const gateway = gatewayIn({});
    const submitter = createSubmitter({
      stock: gateway.stock, producer: gateway.producer, admission: createAdmission(10), surroundings: { clock: { nowMs: () => NOW_MS }, observer: silentStepObserver, log: () => undefined },
      config: { ...gateway.config, tuning: { ...gateway.config.tuning, answerWithinMs: 60, producerLingerMs: 250 } },
    });
    const heard: string[] = [];
    void Promise.resolve(submitter.submit(RAW)).then(({ answer }) => heard.push(answer.code));
    await vi.advanceTimersByTimeAsync(70);
    expect([heard, gateway.sent.length]).toEqual([['QUEUED_PENDING_MESSAGE'], 0]);
    submitter.close();
    expect(gateway.sent).toHaveLength(1);
    void Promise.resolve(submitter.submit({ ...RAW, requestId: 'r-2' }));
    await vi.advanceTimersByTimeAsync(320);
    expect(gateway.sent).toHaveLength(2);
    expect(gateway.marked).toEqual(['r-1', 'r-2']);
  });

  test('a mark that hangs does not hold the answer', async () => {
    const gateway = gatewayIn({});
    const submit = createSubmit({
      stock: { ...gateway.stock, markSent: () => new Promise(() => undefined) }, producer: gateway.producer, admission: createAdmission(10), config: gateway.config,
      surroundings: { clock: { nowMs: () => NOW_MS }, observer: silentStepObserver, log: () => undefined },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
    const heard: string[] = [];
    void Promise.resolve(submit(RAW)).then(({ answer }) => heard.push(answer.code));
    await vi.advanceTimersByTimeAsync(299);
    expect(heard).toEqual(['QUEUED']);
  });

  test('C44: requests that come together go in one reserve call', async () => {
    let calls = 0;
    const gateway = gatewayIn({
      reserve: (requests) => {
        calls += 1;
        return { outcome: 'done', decisions: requests.map((request) => ({ code: 'RESERVED', record: recordOf(request), stockLeft: 1 })) };
      },
      maxInFlight: 100,
    });
    await gateway.submit({ ...RAW, requestId: 'warm' });
    calls = 0;
    await Promise.all(Array.from({ length: 50 }, async (_value, index) => gateway.submit({ ...RAW, requestId: `r-${String(index)}` })));
    expect(calls).toBe(1);
  });
});

const row = (fields: Partial<DurableRequestState>): DurableLookup => ({
  outcome: 'done',
  state: { requestId: 'r-1', userId: '42', reservationId: 'x', reservationStatus: 10, failureCode: null, orderId: '900', orderStatus: 10, ...fields },
});
const gone: LookupReply = { outcome: 'unknown', reason: 'cut' };
const queried: readonly (readonly [string, World, { status: number; code: string; [field: string]: unknown }])[] = [
  ['pending in Redis', { lookup: { outcome: 'done', record: recordOf({}) } }, { status: 200, code: 'QUEUED_PENDING_MESSAGE' }],
  ['pending in Redis while PostgreSQL is gone', { lookup: { outcome: 'done', record: recordOf({}, { state: 'S' }) }, durable: { outcome: 'unavailable', reason: 'x' } }, { status: 200, code: 'QUEUED' }],
  ['ordered in Redis', { lookup: { outcome: 'done', record: recordOf({}, { state: 'O', ...terminal }) } }, { status: 200, code: 'ORDERED', orderId: '900' }],
  ['somebody else\'s in Redis', { lookup: { outcome: 'done', record: recordOf({ userId: '43' }) } }, { status: 403, code: 'FORBIDDEN', reservationId: null, requestId: null }],
  ['only in PostgreSQL', { durable: row({}) }, { status: 200, code: 'ORDERED', orderId: '900' }],
  ['somebody else\'s in PostgreSQL', { durable: row({ userId: '43' }) }, { status: 403, code: 'FORBIDDEN', reservationId: null, orderId: null }],
  ['rejected in PostgreSQL', { durable: row({ reservationStatus: 20, failureCode: 'REJECTED_EXPIRED', orderId: null }) }, { status: 200, code: 'REJECTED', reason: 'REJECTED_EXPIRED' }],
  ['being refunded', { durable: row({ reservationStatus: 30, orderStatus: 60 }) }, { status: 200, code: 'ORDERED', orderId: '900' }],
  ['released', { durable: row({ reservationStatus: 40 }) }, { status: 200, code: 'RELEASED' }],
  ['closed without an order', { durable: row({ reservationStatus: 50, orderId: null }) }, { status: 200, code: 'RELEASED' }],
  ['under way in PostgreSQL', { durable: row({ reservationStatus: 0, orderId: null }) }, { status: 200, code: 'QUEUED' }],
  ['nowhere', {}, { status: 404, code: 'NOT_FOUND_YET' }],
  ['Redis gone, in PostgreSQL', { lookup: gone, durable: row({}) }, { status: 200, code: 'ORDERED' }],
  ['Redis gone, not in PostgreSQL', { lookup: gone }, { status: 404, code: 'NOT_FOUND_YET' }],
  ['Redis gone, beyond the limit', { lookup: gone, durablePerSecond: 0 }, { status: 429, code: 'LIMITED' }],
  ['both gone', { lookup: gone, durable: { outcome: 'unavailable', reason: 'x' } }, { status: 503, code: 'RESULT_UNKNOWN', reservationId: null }],
  ['not in Redis, PostgreSQL gone', { durable: { outcome: 'unavailable', reason: 'x' } }, { status: 503, code: 'RESULT_UNKNOWN', reservationId: null }],
];

describe('query', () => {
  test.each(queried)('%s', async (_name, world, { status, code, ...fields }) => {
    const { httpStatus, answer } = await gatewayIn(world).query({ ...SKU, requestId: 'r-1', userId: '42' });
    expect({ status: httpStatus, code: answer.code }).toEqual({ status, code });
    expect(answer).toMatchObject(fields);
  });

  test('a miss and an unknown say when to ask again', async () => {
    for (const world of [{}, { lookup: gone, durable: { outcome: 'unavailable', reason: 'x' } }] satisfies World[]) {
      expect((await gatewayIn(world).query({ ...SKU, requestId: 'r-1', userId: '42' })).answer.retryAfterMs).toBeGreaterThan(0);
    }
  });

  test('every problem of a query is told; what is not here is 404', async () => {
    const { query } = gatewayIn({});
    const { httpStatus, answer } = await query({ activityId: 'x', skuId: '0', requestId: 'a b', userId: undefined });
    expect(httpStatus).toBe(400);
    expect(answer.problems).toHaveLength(4);
    expect((await query({ activityId: '7', skuId: '71', requestId: 'r', userId: '1' })).httpStatus).toBe(404);
  });
});
