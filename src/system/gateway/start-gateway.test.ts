// The gateway before the first customer: configured when it says that it is healthy, and a page that asks no store.
import { expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../../domain/role-config.js';
import { silentStepObserver } from '../../domain/steps.js';
import { createRoleMetrics } from '../role-metrics.js';
import { freshRecord } from '../stock/record-codec.js';
import type { StockPort } from '../stock/stock-port.js';
import type { StockView } from '../stock/stock-view.js';
import { createGatewayCore, startGateway, type GatewayCore, type GatewayDependencies } from './start-gateway.js';

const SKU = { activityId: '7', skuId: '70' };
const NOWHERE = { host: '127.0.0.1', port: 0 };

function gateway(): { readonly core: GatewayCore; readonly dependencies: GatewayDependencies; readonly config: RoleConfig; readonly calls: Record<'meta' | 'reserve' | 'view', number> } {
  const calls = { meta: 0, reserve: 0, view: 0 };
  const notAsked = (): never => { throw new Error('not asked here'); };
  const stock: StockPort = {
    reserve: (_sku, requests) => {
      calls.reserve += 1;
      return Promise.resolve({ outcome: 'done', decisions: requests.map((request) => ({ code: 'RESERVED', record: freshRecord(request, '3'), stockLeft: 1 })) });
    },
    meta: () => {
      calls.meta += 1;
      return Promise.resolve({ outcome: 'done', meta: { activityVersion: '3', startAtMs: Date.now() - 1_000, endAtMs: Date.now() + 60_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' } });
    },
    markSent: () => Promise.resolve('done'),
    lookup: notAsked, claimPending: notAsked, project: notAsked,
    ready: () => Promise.resolve(true), close: () => Promise.resolve(),
  };
  const look = (): never => {
    calls.view += 1;
    throw new Error('the page looks at Redis');
  };
  const view: StockView = { standing: look, accepted: look };
  const config: RoleConfig = {
    role: 'gateway', instance: 'gateway-1', namespace: namespaceOf('prewarmed'), ...SKU, skuIds: [SKU.skuId], listen: NOWHERE, tuning: DEFAULT_TUNING,
    strategies: { consumer: 'single', allocator: 'token' }, addresses: { redis: NOWHERE, kafka: NOWHERE, postgres: { ...NOWHERE, user: 'u', password: 'p' } },
  };
  const dependencies: GatewayDependencies = {
    stock, view, book: null, metrics: createRoleMetrics('gateway', 'gateway-1'),
    producer: { send: () => Promise.resolve({ outcome: 'sent', reason: null }), ready: () => Promise.resolve(true), close: () => Promise.resolve() },
    reader: { lookup: notAsked, ready: () => Promise.resolve(true), close: () => Promise.resolve() },
  };
  const core = createGatewayCore(dependencies, config, { clock: { nowMs: () => Date.now() }, observer: silentStepObserver, log: () => undefined });
  return { core, dependencies, config, calls };
}

test('whoever waits for its health has it load the configuration: the first customers of the sale wait for none', async () => {
  const { core, calls } = gateway();
  expect(await core.health()).toEqual([]);
  expect(calls.meta).toBe(1);
  const answers = await Promise.all(Array.from({ length: 100 }, async (_value, index) => core.submit({ ...SKU, requestId: `r${String(index)}`, userId: String(index + 1), body: '{"quantity":1}' })));
  expect(answers.every(({ httpStatus }) => httpStatus === 202)).toBe(true);
  expect(calls.meta).toBe(1);
  await core.close();
});

test('the page of a SKU asks no store, however often it is asked for, and shows the version in force', async () => {
  const { core, calls } = gateway();
  await core.health();
  const startedAtMs = performance.now();
  for (let time = 0; time < 10_000; time += 1) expect(core.skuState('7', '70')).toMatchObject({ state: 'OPEN', activityVersion: '3' });
  expect(calls).toMatchObject({ reserve: 0, view: 0 });
  // The configuration is looked at again once a second at most, by whoever asks.
  expect(calls.meta).toBeLessThanOrEqual(2 + Math.floor((performance.now() - startedAtMs) / 1_000));
  await core.close();
});

test('a gateway whose warm-up fails starts cold and says so; a bug in it is not hidden', async () => {
  const { dependencies, config } = gateway();
  const logs: string[] = [];
  const surroundings = { clock: { nowMs: () => Date.now() }, observer: silentStepObserver, log: (level: string, text: string) => void logs.push(`${level}: ${text}`) };
  const running = await startGateway(dependencies, config, surroundings, () => Promise.reject(new Error('it hangs')));
  expect(await running.health()).toEqual([]);
  expect(logs).toEqual(['warn: the gateway starts cold']);
  await running.stop();
  await expect(startGateway(dependencies, config, surroundings, () => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
});
