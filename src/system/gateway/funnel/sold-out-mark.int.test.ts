/** The sold-out mark over a real Redis, with two gateways: it answers strangers, never a winner, and clears when a unit is back (CASES C10). */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { DEFAULT_FUNNEL, type FunnelTuning } from '../../../domain/funnel.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { silentStepObserver } from '../../../domain/steps.js';
import type { SendResult } from '../../order-log/order-log-port.js';
import { freshStock, SKU, type FreshStock } from '../../stock/fresh-stock.test-support.js';
import type { RedisStock } from '../../stock/redis-stock.js';
import { createAdmission } from '../admission.js';
import type { GatewayAnswer } from '../answers.js';
import { createSubmit } from '../submit.js';
import { GatewayFunnel } from './gateway-funnel.js';

const MARK_MS = 300;
const silentMetrics = { counter: () => ({ add: () => undefined }), gauge: () => ({ set: () => undefined }), beforeText: () => undefined };

interface Gateway {
  readonly funnel: GatewayFunnel;
  /** Reserve calls that reached Redis. */
  readonly calls: () => number;
  buy(requestId: string, userId: string): Promise<GatewayAnswer>;
}

function gatewayOver(stock: RedisStock, mayReturn: boolean | null = true): Gateway {
  const funnelTuning: FunnelTuning = { ...DEFAULT_FUNNEL, soldOutMarkMs: MARK_MS, layers: { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': true } };
  const config = { activityId: SKU.activityId, skuIds: [SKU.skuId], instance: 'gateway-1', tuning: { ...DEFAULT_TUNING, funnel: funnelTuning }, namespace: { ordersTopic: 'orders' } } as const;
  const surroundings = { clock: { nowMs: () => Date.now() }, observer: silentStepObserver, log: () => undefined };
  const producer = { send: () => Promise.resolve<SendResult>({ outcome: 'sent', reason: null }), ready: () => Promise.resolve(true), close: () => Promise.resolve() };
  const admission = createAdmission(1_000);
  let calls = 0;
  const counting: RedisStock = {
    ...stock,
    reserve: (sku, requests) => {
      calls += 1;
      return stock.reserve(sku, requests);
    },
  };
  const funnel = new GatewayFunnel({
    admission, config, surroundings, producer, view: stock.view, book: stock.book, gauge: null, metrics: silentMetrics,
    reader: { lookup: () => Promise.resolve({ outcome: 'done', state: null }), unitsMayReturn: () => Promise.resolve(mayReturn) },
  });
  const submit = createSubmit({ stock: counting, producer, admission, config, surroundings, funnel });
  return { funnel, calls: () => calls, buy: async (requestId, userId) => submit({ ...SKU, requestId, userId, body: '{"quantity":1}' }) };
}

/** Sells out through both gateways and waits until both marks stand. */
async function soldOut(units: number, gateways: readonly Gateway[]): Promise<void> {
  for (let unit = 0; unit < units; unit += 1) {
    const answer = await gateways[unit % gateways.length]?.buy(`w${String(unit)}`, String(1_000 + unit));
    expect(answer?.answer.code).toBe('QUEUED');
  }
  for (const gateway of gateways) {
    await expect.poll(async () => {
      await gateway.buy(`probe-${randomUUID()}`, '1');
      return gateway.funnel.entryState(SKU.skuId);
    }).toBe('TEMP_SOLD_OUT');
  }
}

test('strangers hear 410 without Redis; winners of either gateway hear their own state from both', async () => {
  await using fresh = await freshStock(40, { soldOutMarkMs: MARK_MS });
  const gateways = [gatewayOver(fresh.stock), gatewayOver(await fresh.connect({ soldOutMarkMs: MARK_MS }))];
  await soldOut(40, gateways);
  for (const gateway of gateways) {
    const before = gateway.calls();
    const strangers = await Promise.all(Array.from({ length: 500 }, (_value, index) => gateway.buy(`s${String(index)}`, String(50_000 + index))));
    expect(strangers.every(({ httpStatus, answer }) => httpStatus === 410 && answer.code === 'TEMP_SOLD_OUT' && answer.retryAfterMs === DEFAULT_FUNNEL.tempSoldOutRetryMs)).toBe(true);
    expect(gateway.calls()).toBe(before);
    const winners = await Promise.all(Array.from({ length: 40 }, (_value, unit) => gateway.buy(`w${String(unit)}`, String(1_000 + unit))));
    expect(winners.map(({ httpStatus }) => httpStatus)).toEqual(Array.from({ length: 40 }, () => 200));
    // A winner's other request is his second try, and his id under another user is a conflict: Redis says so.
    expect((await gateway.buy('other', '1000')).answer.code).toBe('USER_HAS_ONE');
    expect((await gateway.buy('w0', '77')).answer.code).toBe('IDEMPOTENCY_CONFLICT');
  }
});

test('the proof is renewed while there are requests, without a reserve call', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  const gateway = gatewayOver(fresh.stock);
  await soldOut(1, [gateway]);
  const before = gateway.calls();
  const until = performance.now() + 4 * MARK_MS;
  await expect.poll(async () => {
    expect((await gateway.buy(randomUUID(), '5')).httpStatus).toBe(410);
    return performance.now() > until;
  }, { interval: 5, timeout: 5_000 }).toBe(true);
  expect(gateway.calls()).toBe(before);
});

/**
 * A unit comes back while the other gateway has just proved that there is none. It is bought at `selling` alone, and the first thing that `other` hears of its buyer is his
 * repeat. Returns what the repeat was told.
 */
async function sellReturnedUnit(fresh: FreshStock, selling: Gateway, other: Gateway, name: string): Promise<GatewayAnswer> {
  let [accepted, tries]: [GatewayAnswer | null, number] = [null, 0];
  await expect.poll(async () => {
    await other.buy(randomUUID(), '5');
    return other.funnel.entryState(SKU.skuId);
  }).toBe('TEMP_SOLD_OUT');
  // Asked until it has just been renewed, so that its memory is as long as it can be.
  await other.buy(randomUUID(), '5');
  await fresh.direct.incrby(fresh.keys.stock, 1);
  await expect.poll(async () => {
    tries += 1;
    const answer = await selling.buy(`${name}-${String(tries)}`, `${String(tries)}00${name.replaceAll(/\D/g, '')}`);
    if (answer.httpStatus === 202) accepted = answer;
    return answer.httpStatus;
  }, { interval: 1, timeout: 5_000 }).toBe(202);
  const winner = accepted as GatewayAnswer | null;
  return other.buy(winner?.answer.requestId ?? '', `${String(tries)}00${name.replaceAll(/\D/g, '')}`);
}

test('a unit comes back: it is sold, and whoever gets it is never refused by the other gateway', async () => {
  await using fresh = await freshStock(5, { soldOutMarkMs: MARK_MS });
  const gateways = [gatewayOver(fresh.stock), gatewayOver(await fresh.connect({ soldOutMarkMs: MARK_MS }))] as const;
  await soldOut(5, gateways);
  for (let turn = 0; turn < 6; turn += 1) {
    const returned = performance.now();
    const repeat = await sellReturnedUnit(fresh, gateways[turn % 2 === 0 ? 0 : 1], gateways[turn % 2 === 0 ? 1 : 0], `t${String(turn)}`);
    expect(repeat.httpStatus).toBe(200);
    expect(performance.now() - returned).toBeLessThan(3_000);
    await expect.poll(async () => (await gateways[0].buy(randomUUID(), '5')).httpStatus).toBe(410);
  }
  expect(await fresh.direct.hlen(fresh.keys.requests)).toBe(11);
});

test('a gateway without a mark cannot sell a returned unit while another one still refuses from memory', async () => {
  await using fresh = await freshStock(3, { soldOutMarkMs: MARK_MS });
  const refusing = gatewayOver(fresh.stock);
  const fast = gatewayOver(await fresh.connect({ soldOutMarkMs: MARK_MS }));
  await soldOut(3, [refusing]);
  expect((await sellReturnedUnit(fresh, fast, refusing, 't7')).httpStatus).toBe(200);
});

test('the two tests above can fail: where units do not wait for the marks (hold of 1 ms, marks of 300 ms), the other gateway refuses a winner', async () => {
  await using fresh = await freshStock(5, { soldOutMarkMs: 1 });
  const gateways = [gatewayOver(fresh.stock), gatewayOver(await fresh.connect({ soldOutMarkMs: 1 }))] as const;
  await soldOut(5, [gateways[1]]);
  expect((await sellReturnedUnit(fresh, gateways[0], gateways[1], 't8')).answer.code).toBe('TEMP_SOLD_OUT');
});

test('FINAL once every reservation has its end and no unit can come back', async () => {
  await using fresh = await freshStock(2, { soldOutMarkMs: MARK_MS });
  const gateway = gatewayOver(fresh.stock, false);
  await soldOut(2, [gateway]);
  expect((await gateway.buy('s', '5')).answer.code).toBe('TEMP_SOLD_OUT');
  await fresh.direct.del(fresh.keys.pending);
  await expect.poll(async () => (await gateway.buy(randomUUID(), '5')).answer, { timeout: 5_000 }).toMatchObject({ code: 'FINAL_SOLD_OUT', retryAfterMs: DEFAULT_FUNNEL.finalSoldOutRetryMs });
});

test('C10: one user clicks 500 times, then 99 others buy: 100 orders, nobody is told sold out early', async () => {
  await using fresh = await freshStock(100, { soldOutMarkMs: MARK_MS });
  const gateway = gatewayOver(fresh.stock);
  const clicks = await Promise.all(Array.from({ length: 500 }, (_value, index) => gateway.buy(`c${String(index)}`, '1')));
  expect(clicks.filter(({ answer }) => answer.code === 'QUEUED')).toHaveLength(1);
  expect(clicks.filter(({ answer }) => answer.code === 'USER_HAS_ONE')).toHaveLength(499);
  const others = await Promise.all(Array.from({ length: 99 }, (_value, index) => gateway.buy(`o${String(index)}`, String(2 + index))));
  expect(others.every(({ answer }) => answer.code === 'QUEUED')).toBe(true);
  expect((await gateway.buy('late', '500')).httpStatus).toBe(410);
});

test('Redis goes away: the mark answers as long as its proof is good, and no longer', async () => {
  await using fresh = await freshStock(1, { soldOutMarkMs: MARK_MS });
  const own = await fresh.connect({ soldOutMarkMs: MARK_MS });
  const gateway = gatewayOver(own);
  await soldOut(1, [gateway]);
  await own.close();
  expect((await gateway.buy('s', '5')).httpStatus).toBe(410);
  await expect.poll(async () => (await gateway.buy(randomUUID(), '5')).httpStatus, { timeout: 2 * MARK_MS + 500 }).toBe(503);
});
