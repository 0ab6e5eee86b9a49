/** The warm-up plays requests through to a win, and to a refusal where there are batches, and lets nothing of it out. */
import { expect, it } from 'vitest';

import { systemClock } from '../../../domain/clock.js';
import { DEFAULT_FUNNEL } from '../../../domain/funnel.js';
import { namespaceOf } from '../../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../../domain/role-config.js';
import type { RoleSurroundings } from '../../role.js';
import type { GatewayAnswer } from '../answers.js';
import { answerRecorder } from '../gateway-metrics.js';
import { startGatewayServer } from '../server.js';
import { createGatewayCore } from '../start-gateway.js';
import { readCommands } from './memory-redis.js';
import { warmUpGateway } from './warm-up.js';

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
  tuning: DEFAULT_TUNING,
};
const forAnEdge: RoleConfig = {
  ...config, tuning: { ...DEFAULT_TUNING, answerWithinMs: 500, funnel: { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': true, line: true } } },
};

/** What its gateways have answered, by code. */
async function warmedUp(warmed: RoleConfig, requests: number): Promise<{ readonly codes: ReadonlyMap<string, number>; readonly heard: readonly string[] }> {
  const codes = new Map<string, number>();
  const heard: string[] = [];
  const note = (answer: GatewayAnswer): GatewayAnswer => {
    codes.set(answer.answer.code, (codes.get(answer.answer.code) ?? 0) + 1);
    return answer;
  };
  const around: RoleSurroundings = { clock: systemClock, observer: { reached: (step) => void heard.push(step) }, log: (_level, text) => void heard.push(text) };
  await warmUpGateway(warmed, around, requests, {
    core(dependencies, surroundings) {
      const core = createGatewayCore(dependencies, warmed, surroundings);
      return { ...core, submit: async (raw) => note(await core.submit(raw)), submitter: { submit: core.submitter.submit, sells: (sku) => core.submitter.sells(sku), decide: async (valid) => note(await core.submitter.decide(valid)) } };
    },
    serve: (core, { metrics }, surroundings) => startGatewayServer({
      listen: { ...nowhere, port: 0 }, submitter: core.submitter, query: core.query, skuState: core.skuState, recorder: answerRecorder(metrics, warmed), surroundings, health: () => core.health(), metrics,
    }),
  });
  return { codes, heard };
}

it('wins, announces no step and writes no log', async () => {
  const { codes, heard } = await warmedUp(config, 320);
  expect([...codes]).toEqual([['QUEUED', 320]]);
  expect(heard).toEqual([]);
});

it('for an edge: wins early and late, and is refused from memory', async () => {
  const { codes, heard } = await warmedUp(forAnEdge, 5 * 1_024);
  expect([...codes.keys()].sort()).toEqual(['QUEUED', 'QUEUED_PENDING_MESSAGE', 'TEMP_SOLD_OUT']);
  expect([...codes.values()].reduce((sum, count) => sum + count)).toBe(2 * 5 * 1_024);
  expect(codes.get('TEMP_SOLD_OUT')).toBe(5 * 1_024);
  expect(heard).toEqual([]);
});

it('0 requests: nothing at all', async () => {
  expect([...(await warmedUp(config, 0)).codes]).toEqual([]);
});

it('the commands of a connection are told apart, however they are cut', () => {
  const text = '*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\n';
  expect(readCommands(text)).toEqual({ commands: [['GET', 'a'], ['EXEC']], length: text.length });
  for (let cut = 0; cut < text.length; cut += 1) {
    const first = readCommands(text.slice(0, cut));
    expect([...first.commands, ...readCommands(text.slice(first.length)).commands]).toEqual([['GET', 'a'], ['EXEC']]);
  }
});
