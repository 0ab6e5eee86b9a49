/** The warm-up plays requests through to a win, and to a refusal where there are batches, and lets nothing of it out. */
import { expect, it } from 'vitest';

import { systemClock } from '../../../domain/clock.js';
import { DEFAULT_FUNNEL } from '../../../domain/funnel.js';
import { namespaceOf } from '../../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../../domain/role-config.js';
import type { RoleSurroundings } from '../../role.js';
import { connectStock } from '../../stock/redis-stock.js';
import type { ReserveRequest } from '../../stock/stock-port.js';
import type { GatewayAnswer } from '../answers.js';
import { answerRecorder } from '../gateway-metrics.js';
import { startGatewayServer } from '../server.js';
import { createGatewayCore } from '../start-gateway.js';
import { openMemoryRedis, readCommands } from './memory-redis.js';
import type { Submitter } from '../submit.js';
import { lateBatches, LATE_ITEMS, warmUpGateway } from './warm-up.js';
import { writerInTwo } from './writer-in-two.js';

const nowhere = { host: '127.0.0.1', port: 1 };
const config: RoleConfig = {
  role: 'gateway',
  instance: 'gateway-1',
  namespace: namespaceOf('warm'),
  addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: 'u', password: 'p' } },
  listen: nowhere,
  activityId: '1',
  skuIds: ['2'],
  strategies: { consumer: 'single', allocator: 'token' },
  // Bounds longer than a test takes on any machine, here and below: all that is answered is answered by what it meets, not by how slow it was.
  tuning: { ...DEFAULT_TUNING, reserveTimeoutMs: 60_000, sendBudgetMs: 60_000 },
};
const forAnEdge: RoleConfig = {
  ...config, tuning: { ...config.tuning, answerWithinMs: 500, funnel: { ...DEFAULT_FUNNEL, soldOutMarkMs: 3_600_000, layers: { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': true, line: true } } },
};

/** What its gateways have answered, by code. */
async function warmedUp(warmed: RoleConfig, requests: number): Promise<{ readonly codes: ReadonlyMap<string, number>; readonly heard: readonly string[] }> {
  const codes = new Map<string, number>();
  const heard: string[] = [];
  const note = (answer: GatewayAnswer): GatewayAnswer => {
    codes.set(answer.answer.code, (codes.get(answer.answer.code) ?? 0) + 1);
    return answer;
  };
  const noted = (submitter: Submitter): Submitter['standingRefusal'] => (sku) => {
    const refusal = submitter.standingRefusal(sku);
    return refusal === null ? null : { ...refusal, heard(count) {
      for (let one = 0; one < count; one += 1) note(refusal.answer);
      refusal.heard(count);
    } };
  };
  const around: RoleSurroundings = { clock: systemClock, observer: { reached: (step) => void heard.push(step) }, log: (_level, text) => void heard.push(text) };
  await warmUpGateway(warmed, around, requests, {
    core(dependencies, surroundings) {
      const core = createGatewayCore(dependencies, warmed, surroundings);
      return { ...core, submit: async (raw) => note(await core.submit(raw)), submitter: { submit: core.submitter.submit, sells: (sku) => core.submitter.sells(sku), close: () => { core.submitter.close(); }, standingRefusal: noted(core.submitter), decide: async (valid) => note(await core.submitter.decide(valid)) } };
    },
    serve: (core, { metrics }, surroundings) => startGatewayServer({
      listen: { ...nowhere, port: 0 }, submitter: core.submitter, query: core.query, skuState: core.skuState, recorder: answerRecorder(metrics, warmed), surroundings, health: () => core.health(), metrics,
    }),
  });
  return { codes, heard };
}

it('wins, announces no step and writes no log', async () => {
  const { codes, heard } = await warmedUp(config, 576);
  expect([...codes]).toEqual([['QUEUED', 576]]);
  expect(heard).toEqual([]);
});

it('for an edge: wins early and late, hears repeats, and is refused by the line and from memory', async () => {
  const { codes, heard } = await warmedUp(forAnEdge, 9 * 512);
  expect([...codes.keys()].sort()).toEqual(['QUEUED', 'QUEUED_PENDING_MESSAGE', 'QUEUE_FULL', 'TEMP_SOLD_OUT']);
  expect([...codes.values()].reduce((sum, count) => sum + count)).toBe(2 * 9 * 512 + lateBatches(9 * 512) * LATE_ITEMS);
  // Every unit is sold, and some buyers ask again.
  expect((codes.get('QUEUED') ?? 0) + (codes.get('QUEUED_PENDING_MESSAGE') ?? 0)).toBeGreaterThan(9 * 512);
  expect(heard).toEqual([]);
});

it('0 requests: nothing at all', async () => {
  expect([...(await warmedUp(config, 0)).codes]).toEqual([]);
});

it('the Redis in memory sells its units, and knows a buyer again', async () => {
  const redis = await openMemoryRedis(2, 0);
  const stock = connectStock(redis.address, config.namespace, { soldOutMarkMs: 500 });
  await stock.whenConnected(5_000);
  const request = (id: string): ReserveRequest => ({ requestId: id, userId: '7', payloadHash: '00ff00ff', reservationId: `r${id}`, messageId: `m${id}`, reservedAtMs: 1, expiresAtMs: 2 });
  const reply = await stock.reserve({ activityId: '1', skuId: '2' }, ['a', 'b', 'a', 'c'].map(request));
  await stock.close();
  redis.close();
  const decisions = reply.outcome === 'done' ? reply.decisions : [];
  expect(decisions.map(({ code, stockLeft }) => [code, stockLeft])).toEqual([['RESERVED', 1], ['RESERVED', 0], ['REPEATED', 0], ['SOLD_OUT', 0]]);
  expect([decisions[2]?.record?.reservationId, decisions[3]?.soldOut?.acceptedCount]).toEqual(['ra', 2]);
});

it('what is written in two pieces comes in order', async () => {
  const written: string[] = [];
  const write = writerInTwo({ write: (text: string) => written.push(text) > 0 });
  write('abcd');
  write('e');
  await new Promise(setImmediate);
  write('fg');
  await new Promise(setImmediate);
  expect(written).toEqual(['ab', 'cde', 'f', 'g']);
});

it('the commands of a connection are told apart, however they are cut', () => {
  const text = '*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\n';
  expect(readCommands(text)).toEqual({ commands: [['GET', 'a'], ['EXEC']], length: text.length });
  for (let cut = 0; cut < text.length; cut += 1) {
    const first = readCommands(text.slice(0, cut));
    expect([...first.commands, ...readCommands(text.slice(first.length)).commands]).toEqual([['GET', 'a'], ['EXEC']]);
  }
});
