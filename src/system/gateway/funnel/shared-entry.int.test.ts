/** What two gateways share over a real Redis: a permit is good for one request id, and a device holds no more unpaid units than it may, whichever gateway is asked. */
import { createHmac } from 'node:crypto';

import { expect, test } from 'vitest';

import { DEFAULT_FUNNEL, type FunnelTuning } from '../../../domain/funnel.js';
import { encodePermit } from '../../../domain/permit.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { silentStepObserver } from '../../../domain/steps.js';
import { OrderStatus, ReservationStatus } from '../../../domain/status-codes.js';
import type { DurableLookup } from '../../ledger/ledger-port.js';
import type { SendResult } from '../../order-log/order-log-port.js';
import { freshStock, SKU, type FreshStock } from '../../stock/fresh-stock.test-support.js';
import { holdsKey } from '../../stock/keys.js';
import type { RedisStock } from '../../stock/redis-stock.js';
import { createAdmission } from '../admission.js';
import type { GatewayAnswer } from '../answers.js';
import { createSubmit } from '../submit.js';
import { GatewayFunnel } from './gateway-funnel.js';

const silentMetrics = { counter: () => ({ add: () => undefined }), gauge: () => ({ set: () => undefined }), beforeText: () => undefined };
const SECRET = 'shared secret';

type Buy = (requestId: string, userId: string, shown?: { readonly permit?: string; readonly deviceId?: string }) => Promise<GatewayAnswer>;

/** `skewMs`: of this gateway's clock. `durable`: what PostgreSQL knows, by request id. */
function gatewayOver(stock: RedisStock, layer: 'permit' | 'unpaid-holds', { skewMs = 0, durable = new Map<string, DurableLookup>() } = {}): Buy {
  const funnelTuning: FunnelTuning = { ...DEFAULT_FUNNEL, permitSecret: SECRET, unpaidHolds: { perUser: 1, perDevice: 3 }, layers: { ...DEFAULT_FUNNEL.layers, [layer]: true } };
  const config = { activityId: SKU.activityId, skuIds: [SKU.skuId], instance: 'gateway-1', tuning: { ...DEFAULT_TUNING, funnel: funnelTuning }, namespace: { ordersTopic: 'orders' } } as const;
  const surroundings = { clock: { nowMs: () => Date.now() + skewMs }, observer: silentStepObserver, log: () => undefined };
  const producer = { send: () => Promise.resolve<SendResult>({ outcome: 'sent', reason: null }), ready: () => Promise.resolve(true), close: () => Promise.resolve() };
  const admission = createAdmission(1_000);
  const reader = { lookup: (_sku: unknown, requestId: string) => Promise.resolve(durable.get(requestId) ?? ({ outcome: 'done', state: null } as const)) };
  const funnel = new GatewayFunnel({ admission, config, surroundings, producer, view: stock.view, book: stock.book, gauge: null, metrics: silentMetrics, reader });
  const submit = createSubmit({ stock, producer, admission, config, surroundings, funnel });
  return async (requestId, userId, shown = {}) => submit({ ...SKU, requestId, userId, ...shown, body: '{"quantity":1}' });
}

async function twoGateways(fresh: FreshStock, layer: 'permit' | 'unpaid-holds', options: Parameters<typeof gatewayOver>[2] = {}): Promise<readonly [Buy, Buy]> {
  return [gatewayOver(fresh.stock, layer, options), gatewayOver(await fresh.connect(), layer, options)];
}

function permitOf(userId: string, nonce: string, expiresAtMs = Date.now() + 60_000): string {
  return encodePermit({ ...SKU, userId, nonce, expiresAtMs }, (payload) => createHmac('sha256', SECRET).update(payload).digest('base64url'));
}
const codesOf = (answers: readonly GatewayAnswer[]): string[] => answers.map(({ answer }) => answer.code);
const countOf = (answers: readonly GatewayAnswer[], code: string): number => codesOf(answers).filter((each) => each === code).length;

test('a permit that one request id has spent at one gateway is spent at the other, and good for the same id at both', async () => {
  await using fresh = await freshStock(100);
  const [one, other] = await twoGateways(fresh, 'permit');
  const permit = permitOf('42', 'nonce-0001');
  expect((await one('a', '42', { permit })).httpStatus).toBe(202);
  for (const buy of [other, one]) {
    expect(await buy('b', '42', { permit })).toMatchObject({ httpStatus: 403, answer: { code: 'PERMIT_INVALID', reason: 'SPENT' } });
    expect((await buy('a', '42', { permit })).httpStatus).toBe(200);
  }
  expect(await fresh.direct.hlen(fresh.keys.requests)).toBe(1);
});

test('two hundred request ids with one permit at two gateways at once: one passes the permit', async () => {
  await using fresh = await freshStock(100);
  const gateways = await twoGateways(fresh, 'permit');
  const permit = permitOf('42', 'nonce-0001');
  const answers = await Promise.all(Array.from({ length: 200 }, async (_value, index) => (gateways[index % 2]!)(`r${String(index)}`, '42', { permit })));
  expect(countOf(answers, 'QUEUED')).toBe(1);
  expect(countOf(answers, 'PERMIT_INVALID')).toBe(199);
});

test('C14: a gateway whose clock is a minute off judges permits as the other does', async () => {
  await using fresh = await freshStock(100);
  const skewed = [gatewayOver(fresh.stock, 'permit', { skewMs: 60_000 }), gatewayOver(await fresh.connect(), 'permit', { skewMs: -60_000 })];
  for (const [index, buy] of skewed.entries()) {
    expect((await buy(`good${String(index)}`, String(10 + index), { permit: permitOf(String(10 + index), 'nonce-good', Date.now() + 30_000) })).httpStatus).toBe(202);
    expect((await buy(`over${String(index)}`, String(20 + index), { permit: permitOf(String(20 + index), 'nonce-over', Date.now() - 30_000) })).answer.reason).toBe('EXPIRED');
  }
});

test('spent nonces lie under the hash tag of their SKU and go when their permits are over', async () => {
  await using fresh = await freshStock(100);
  const [one] = await twoGateways(fresh, 'permit');
  const expiresAtMs = Date.now() + 60_000;
  await one('a', '42', { permit: permitOf('42', 'nonce-0001', expiresAtMs) });
  const [key, ...others] = await fresh.direct.keys(`${fresh.namespace.redisPrefix}*permits*`);
  expect(others).toEqual([]);
  expect(key).toContain(`{${SKU.activityId}:${SKU.skuId}}`);
  const goesAtMs = await fresh.direct.pexpiretime(key ?? '');
  expect(goesAtMs - expiresAtMs).toBeGreaterThanOrEqual(3_600_000);
  expect(goesAtMs - expiresAtMs).toBeLessThanOrEqual(2 * 3_600_000);
});

test('Redis goes away: nobody gets in by a permit or a place that was not checked', async () => {
  await using fresh = await freshStock(100);
  for (const layer of ['permit', 'unpaid-holds'] as const) {
    const own = await fresh.connect();
    const buy = gatewayOver(own, layer);
    await own.close();
    expect(await buy('a', '42', { permit: permitOf('42', 'nonce-0001'), deviceId: 'd' })).toMatchObject({ httpStatus: 503, answer: { code: 'UNAVAILABLE' } });
  }
});

test('a hundred users of one device at two gateways at once: as many units as the device may hold', async () => {
  await using fresh = await freshStock(100);
  const gateways = await twoGateways(fresh, 'unpaid-holds');
  const buyAll = (from: number): Promise<GatewayAnswer[]> =>
    Promise.all(Array.from({ length: 100 }, async (_value, index) => (gateways[index % 2]!)(`r${String(from + index)}`, String(from + index), { deviceId: 'farm' })));
  const answers = [...(await buyAll(1_000)), ...(await buyAll(2_000))];
  expect([countOf(answers, 'QUEUED'), countOf(answers, 'HOLD_LIMIT')]).toEqual([3, 197]);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('97');
});

test.each(['reserves', 'is refused'] as const)('one request at two gateways at once: its place stays, though the one that took it comes last and %s', async (ends) => {
  await using fresh = await freshStock(1);
  const slow = await fresh.connect();
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => { open = resolve; });
  const reserve = slow.reserve.bind(slow);
  slow.reserve = async (sku, requests) => {
    await gate;
    return ends === 'reserves' ? reserve(sku, requests) : { outcome: 'surely-not-done', reason: 'refused' };
  };
  const [taker, reserver] = [gatewayOver(slow, 'unpaid-holds'), gatewayOver(fresh.stock, 'unpaid-holds')];
  const holds = async (holder: string): Promise<string | null> => fresh.direct.hget(holdsKey(fresh.namespace.redisPrefix, SKU.activityId), holder);
  const first = taker('r1', '1', { deviceId: 'd' });
  await expect.poll(() => holds('u:1')).not.toBeNull();
  expect((await reserver('r1', '1', { deviceId: 'd' })).httpStatus).toBe(202);
  open();
  expect((await first).httpStatus).toBe(ends === 'reserves' ? 200 : 503);
  // Whatever is given back, is by then.
  await reserver('r9', '9', { deviceId: 'e' });
  for (const holder of ['u:1', 'd:d']) expect(await holds(holder)).toContain('/r1#');
});

test('a place is given back by who was refused, and by who has paid; a repeat at another gateway keeps its own', async () => {
  await using fresh = await freshStock(2);
  const durable = new Map<string, DurableLookup>();
  const [one, other] = await twoGateways(fresh, 'unpaid-holds', { durable });
  const holds = async (holder: string): Promise<string | null> => fresh.direct.hget(holdsKey(fresh.namespace.redisPrefix, SKU.activityId), holder);
  for (const user of ['1', '2']) expect((await one(`r${user}`, user, { deviceId: 'd' })).httpStatus).toBe(202);
  expect((await other('r1', '1', { deviceId: 'd' })).httpStatus).toBe(200);
  // Sold out: the third place of the device is free again, however often it is tried.
  for (let time = 0; time < 3; time += 1) expect((await other(`x${String(time)}`, '3', { deviceId: 'd' })).httpStatus).toBe(410);
  await expect.poll(() => holds('u:3')).toBeNull();
  expect(new Set((await holds('d:d'))?.match(/[^\s#]+(?=#)/g))).toEqual(new Set([`${SKU.skuId}/r1`, `${SKU.skuId}/r2`]));
  // The user's own limit of one, until his order is paid.
  await fresh.direct.incrby(fresh.keys.stock, 1);
  expect(codesOf([await other('again', '1', { deviceId: 'e' })])).toEqual(['HOLD_LIMIT']);
  durable.set('r1', { outcome: 'done', state: { requestId: 'r1', userId: '1', reservationId: 'x', reservationStatus: ReservationStatus.ORDERED, failureCode: null, orderId: '5', orderStatus: OrderStatus.PAID } });
  expect(codesOf([await one('again', '1', { deviceId: 'e' })])).toEqual(['HOLD_LIMIT']);
  await expect.poll(() => holds('u:1')).toBeNull();
  expect(codesOf([await other('again', '1', { deviceId: 'e' })])).toEqual(['USER_HAS_ONE']);
});
