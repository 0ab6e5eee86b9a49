// The HTTP contract of the payment role over a scripted order life: statuses, bodies, signatures, limits.
import { trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { cancelPath, orderPath, paymentsPath, PAYMENT_CALLBACKS_PATH, refundPath, type PaymentAnswer } from '../../domain/payment-contract.js';
import { silentStepObserver } from '../../domain/steps.js';
import { createRoleMetrics } from '../role-metrics.js';
import { registerMemoryTracer } from '../tracing/memory-tracer.test-support.js';
import { createRoleTracing } from '../tracing/request-trace.js';
import { callbackFor } from './life-case.test-support.js';
import { lifeAnswer } from './locked-order.js';
import type { LifeAnswer, LifeOutcome } from './order-life-port.js';
import { answerPayment } from './payment-requests.js';
import { startPaymentServer, type PaymentServer } from './payment-server.js';
import { signCallback } from './read-callback.js';

const calls: unknown[][] = [];
let next: LifeOutcome<LifeAnswer>;
let secret: string | null = null;
let server: PaymentServer;

const record = (name: string) => (...args: unknown[]): Promise<LifeOutcome<never>> => {
  calls.push([name, ...args]);
  return Promise.resolve(next as LifeOutcome<never>);
};
const life = {
  look: record('look'), startPaying: record('startPaying'), cancel: record('cancel'), requestRefund: record('requestRefund'), takeCallback: record('takeCallback'),
  markUnknown: record('markUnknown'), claimQuestions: record('claimQuestions'), endQuestions: record('endQuestions'), closeExpired: record('closeExpired'), findExpired: record('findExpired'),
  loadPayment: record('loadPayment'), completeRefund: record('completeRefund'), ready: () => Promise.resolve(true), close: () => Promise.resolve(),
};

beforeEach(async () => {
  calls.length = 0;
  secret = null;
  server = await startPaymentServer({
    listen: { host: '127.0.0.1', port: 0 }, health: () => Promise.resolve([]), metrics: createRoleMetrics('payment', 'payment-1'),
    answer: (request) => answerPayment(request, { life, callbackSecret: secret, log: () => undefined }),
    onAnswer: () => undefined, log: () => undefined,
  });
});

afterEach(() => server.stop(100));

async function ask(method: string, path: string, body?: unknown, userId?: string): Promise<{ readonly status: number; readonly answer: PaymentAnswer; readonly retryAfter: string | null }> {
  const response = await fetch(`http://127.0.0.1:${String(server.address.port)}${path}`, {
    method, ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }), headers: userId === undefined ? {} : { 'X-User-Id': userId },
  });
  return { status: response.status, answer: await response.json() as PaymentAnswer, retryAfter: response.headers.get('retry-after') };
}

const done = (fields: Partial<LifeAnswer> & Pick<LifeAnswer, 'code'>): LifeOutcome<LifeAnswer> => ({ outcome: 'done', value: lifeAnswer(fields) });

test.each([
  ['PAYING', false, 201], ['PAYING', true, 200], ['ORDER_PAID', false, 409], ['ORDER_ENDED', false, 409], ['FORBIDDEN', false, 403], ['NOT_FOUND', false, 404],
] as const)('start paying: %s (repeated %s) is %d', async (code, repeated, status) => {
  next = done({ code, repeated });
  expect(await ask('POST', paymentsPath('77'), { provider: 'fake' }, '5')).toMatchObject({ status, answer: { code, repeated, problems: [] } });
  expect(calls).toEqual([['startPaying', '77', '5', 'fake']]);
});

test('each path asks for its own', async () => {
  next = done({ code: 'CANCELLED' });
  expect((await ask('POST', cancelPath('77'), undefined, '5')).status).toBe(200);
  next = done({ code: 'REFUND_PENDING' });
  expect((await ask('POST', refundPath('77'), undefined, '5')).status).toBe(202);
  next = done({ code: 'ORDER', orderStatus: 10 });
  expect((await ask('GET', orderPath('77'), undefined, '5')).answer).toEqual({ code: 'ORDER', orderId: null, paymentId: null, orderStatus: 10, amount: null, currency: null, reason: null, repeated: false, problems: [] });
  expect(calls.map(([name]) => name)).toEqual(['cancel', 'requestRefund', 'look']);
});

test('a callback is durable at 2xx, and comes again at 503', async () => {
  next = done({ code: 'REFUND_PENDING' });
  const callback = callbackFor('77');
  expect(await ask('POST', PAYMENT_CALLBACKS_PATH, callback)).toMatchObject({ status: 200, answer: { code: 'REFUND_PENDING' } });
  expect(calls).toEqual([['takeCallback', { ...callback, paymentId: null }]]);
  for (const outcome of ['unknown', 'unavailable', 'refused'] as const) {
    next = { outcome, reason: 'so' };
    expect(await ask('POST', PAYMENT_CALLBACKS_PATH, callback)).toMatchObject({ status: 503, answer: { code: 'TRY_AGAIN' }, retryAfter: '1' });
  }
});

test('every problem is named, and nothing is done', async () => {
  expect(await ask('POST', PAYMENT_CALLBACKS_PATH, { ...callbackFor('77'), amount: 1.5, currency: 'cny', status: 'MAYBE', tradeNo: '' })).toMatchObject({
    status: 400, answer: { code: 'INVALID', problems: ['tradeNo is missing or malformed', 'amount is missing or malformed', 'currency is missing or malformed', 'status is missing or malformed'] },
  });
  for (const body of ['', 'null', '[', '"x"', 'x'.repeat(5_000)]) expect((await ask('POST', PAYMENT_CALLBACKS_PATH, body)).status).toBe(400);
  expect((await ask('POST', paymentsPath('77'), { provider: '' }, '5')).status).toBe(400);
  expect((await ask('POST', paymentsPath('77'), { provider: 'fake' })).status).toBe(400);
  expect((await ask('POST', paymentsPath('0'), { provider: 'fake' }, '5')).status).toBe(404);
  expect((await ask('GET', '/v1/orders/77/cancel', undefined, '5')).status).toBe(404);
  expect((await ask('POST', '/v1/elsewhere', {})).status).toBe(404);
  expect(calls).toEqual([]);
});

test('with a secret only signed callbacks are heard', async () => {
  secret = 'between us';
  next = done({ code: 'PAID' });
  const callback = callbackFor('77');
  expect((await ask('POST', PAYMENT_CALLBACKS_PATH, callback)).status).toBe(401);
  expect((await ask('POST', PAYMENT_CALLBACKS_PATH, { ...callback, signature: signCallback(callback, 'guessed') })).status).toBe(401);
  const signature = signCallback(callback, secret);
  expect((await ask('POST', PAYMENT_CALLBACKS_PATH, { ...callback, amount: callback.amount - 1, signature })).status).toBe(401);
  expect(calls).toEqual([]);
  expect((await ask('POST', PAYMENT_CALLBACKS_PATH, { ...callback, signature })).status).toBe(200);
});

test('with tracing on each request has its span, which continues the caller\'s trace and is the present one while the order life works', async () => {
  const spans = registerMemoryTracer();
  const present: (string | undefined)[] = [];
  const traced = await startPaymentServer({
    listen: { host: '127.0.0.1', port: 0 }, health: () => Promise.resolve([]), metrics: createRoleMetrics('payment', 'payment-1'), log: () => undefined, onAnswer: () => undefined,
    tracing: createRoleTracing('payment', 'payment-1', silentStepObserver),
    answer: (request) => {
      present.push(trace.getActiveSpan()?.spanContext().traceId);
      return answerPayment(request, { life, callbackSecret: null, log: () => undefined });
    },
  });
  try {
    next = done({ code: 'CANCELLED' });
    const root = `http://127.0.0.1:${String(traced.address.port)}`;
    const TRACE = '0af7651916cd43dd8448eb211c80319c';
    await fetch(root + cancelPath('77'), { method: 'POST', headers: { 'X-User-Id': '5', traceparent: `00-${TRACE}-b7ad6b7169203331-01` } });
    await fetch(root + PAYMENT_CALLBACKS_PATH, { method: 'POST', body: JSON.stringify(callbackFor('77')) });
    expect(spans.map(({ name, parentSpanId, ended }) => ({ name, parentSpanId, ended }))).toEqual([{ name: 'HTTP POST', parentSpanId: 'b7ad6b7169203331', ended: true }, { name: 'HTTP POST', parentSpanId: null, ended: true }]);
    expect(present).toEqual([TRACE, spans[1]?.spanContext().traceId]);
  } finally {
    await traced.stop(100);
    trace.disable();
  }
});
