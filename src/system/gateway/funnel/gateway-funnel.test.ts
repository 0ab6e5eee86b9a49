// The funnel as a whole: order, switches, counts, the privilege of repeats, and how each state of the entry answers.
import { describe, expect, test } from 'vitest';

import { HTTP_STATUS_OF } from '../../../domain/answer.js';
import { DEFAULT_FUNNEL, FUNNEL_LAYERS, type EntryState, type FunnelLayerName, type FunnelTuning } from '../../../domain/funnel.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { silentStepObserver } from '../../../domain/steps.js';
import { createRoleMetrics } from '../../role-metrics.js';
import { memoryBook } from '../../stock/memory-book.test-support.js';
import type { StockView } from '../../stock/stock-view.js';
import { createAdmission } from '../admission.js';
import { limited } from '../answers.js';
import { createSkuStates } from '../sku-state.js';
import { aRequest, said } from './a-request.test-support.js';
import type { DownstreamGauge, DownstreamReading } from './downstream-gauge.js';
import { createFunnel } from './funnel.js';
import { GatewayFunnel } from './gateway-funnel.js';

const ALL_ON = Object.fromEntries(FUNNEL_LAYERS.map((name) => [name, true])) as Record<FunnelLayerName, boolean>;

/** What PostgreSQL says in the case at hand. */
let mayReturn = true;

function funnelOf(change: Partial<FunnelTuning>, on: readonly FunnelLayerName[], reading: DownstreamReading | null = null, maxInFlight = 10) {
  const layers = Object.fromEntries(FUNNEL_LAYERS.map((name) => [name, on.includes(name)])) as Record<FunnelLayerName, boolean>;
  // A proof longer than a test takes on any machine: whether it is over is told by real time.
  const tuning = { ...DEFAULT_TUNING, funnel: { ...DEFAULT_FUNNEL, soldOutMarkMs: 3_600_000, ...change, layers } };
  const metrics = createRoleMetrics('gateway', 'gateway-1');
  const view: StockView = {
    standing: () => Promise.resolve({ outcome: 'done', value: { stockLeft: 0, soldOutTurn: '1:1', pendingCount: 0, acceptedCount: 1 } }),
    accepted: () => Promise.resolve({ outcome: 'done', value: { requests: [{ requestId: 'w', userId: '1' }], nextCursor: '0' } }),
  };
  const gauge: DownstreamGauge = { read: () => Promise.resolve(reading), close: () => Promise.resolve() };
  const book = memoryBook();
  const funnel = new GatewayFunnel({
    admission: createAdmission(maxInFlight), metrics, view, gauge, book,
    config: { activityId: '7', skuIds: ['70'], instance: 'gateway-1', tuning },
    surroundings: { clock: { nowMs: () => 1_700_000_000_000 }, observer: silentStepObserver, log: () => undefined },
    producer: { ready: () => Promise.resolve(false) },
    reader: { lookup: () => Promise.resolve({ outcome: 'unavailable', reason: 'x' }), unitsMayReturn: () => Promise.resolve(mayReturn) },
  });
  return { funnel, metrics, book };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pass = async (funnel: GatewayFunnel, change = {}): Promise<string> => said(await funnel.pass(aRequest(change)));
const READING: DownstreamReading = { stockLeft: 100, underway: 0, lag: 0, consumed: 0, oldestAgeMs: 0 };
const stateOf = (funnel: GatewayFunnel) =>
  createSkuStates({ funnel, window: { peek: () => ({ state: { state: 'open' }, activityVersion: '3' }) }, config: { activityId: '7', skuIds: ['70'] } })('7', '70')?.state;

interface StateCase {
  readonly state: EntryState;
  readonly code: string;
  readonly status: number | null;
  make(): Promise<GatewayFunnel>;
}

async function soldOutFunnel(returns: boolean): Promise<GatewayFunnel> {
  mayReturn = returns;
  const { funnel } = funnelOf({}, ['sold-out-mark', 'in-flight']);
  funnel.soldOut(aRequest(), { turn: '1:1', reopensInMs: 0, acceptedCount: -1 }, performance.now());
  await settled();
  return funnel;
}

const STATES: readonly StateCase[] = [
  { state: 'OPEN', code: 'passed', status: null, make: () => Promise.resolve(funnelOf({}, ['in-flight']).funnel) },
  {
    state: 'THROTTLED', code: 'LIMITED', status: 429,
    async make() {
      const { funnel } = funnelOf({ instanceBucket: { perSecond: 0, burst: 1 } }, ['instance-bucket']);
      await pass(funnel);
      await pass(funnel);
      return funnel;
    },
  },
  {
    state: 'QUEUE_FULL', code: 'QUEUE_FULL', status: 429,
    async make() {
      const { funnel } = funnelOf({}, ['admission-limit'], { ...READING, oldestAgeMs: 5_000 });
      await settled();
      return funnel;
    },
  },
  { state: 'TEMP_SOLD_OUT', code: 'TEMP_SOLD_OUT', status: 410, make: () => soldOutFunnel(true) },
  { state: 'FINAL_SOLD_OUT', code: 'FINAL_SOLD_OUT', status: 410, make: () => soldOutFunnel(false) },
  {
    state: 'PAUSED', code: 'UNAVAILABLE', status: 503,
    make() {
      const { funnel } = funnelOf({}, ['breaker']);
      for (let send = 0; send < 100; send += 1) funnel.sent('unknown');
      return Promise.resolve(funnel);
    },
  },
];

describe('states of the entry', () => {
  test.each(STATES)('$state answers a new request $code, and the page shows it', async ({ state, code, status, make }) => {
    const funnel = await make();
    expect(stateOf(funnel)).toBe(state);
    const verdict = await funnel.pass(aRequest({ requestId: 'new', userId: '77' }));
    expect(said(verdict)).toBe(code);
    expect(verdict?.httpStatus ?? null).toBe(status);
    if (verdict !== null) {
      expect(HTTP_STATUS_OF[verdict.answer.code]).toBe(status);
      expect(verdict.answer.retryAfterMs).toBeGreaterThan(0);
    }
    // Whoever is known to be accepted is not asked, whatever the state.
    funnel.accepted(aRequest({ requestId: 'mine', userId: '5' }));
    expect(funnel.isKnown(aRequest({ requestId: 'mine', userId: '5' }))).toBe(true);
    expect(funnel.isKnown(aRequest({ requestId: 'mine', userId: '6' }))).toBe(false);
    await funnel.close();
  });

  test('TEMP and FINAL tell different times to come back', async () => {
    const times: (number | null | undefined)[] = [];
    for (const returns of [true, false]) times.push((await (await soldOutFunnel(returns)).pass(aRequest({ requestId: 'new', userId: '77' })))?.answer.retryAfterMs);
    expect(times).toEqual([DEFAULT_FUNNEL.tempSoldOutRetryMs, DEFAULT_FUNNEL.finalSoldOutRetryMs]);
  });

  test('Redis said paused a moment ago', () => {
    const { funnel } = funnelOf({}, []);
    funnel.paused();
    expect(stateOf(funnel)).toBe('PAUSED');
  });

  test('before, after and without configuration', () => {
    const { funnel } = funnelOf({}, []);
    const page = (peeked: Parameters<typeof createSkuStates>[0]['window']) => createSkuStates({ funnel, window: peeked, config: { activityId: '7', skuIds: ['70'] } });
    expect(page({ peek: () => null })('7', '70')).toEqual({ state: 'PAUSED', activityVersion: null, validForMs: 1_000 });
    expect(page({ peek: () => ({ state: { state: 'not-started', startsInMs: 5 }, activityVersion: '1' }) })('7', '70')?.state).toBe('NOT_STARTED');
    expect(page({ peek: () => ({ state: { state: 'ended' }, activityVersion: '2' }) })('7', '70')).toEqual({ state: 'ENDED', activityVersion: '2', validForMs: 60_000 });
    expect(page({ peek: () => null })('7', '71')).toBeNull();
    expect(page({ peek: () => null })('8', '70')).toBeNull();
  });
});

describe('layers', () => {
  test('all off: everything passes, and nothing is owed', async () => {
    const { funnel } = funnelOf({}, [], null, 0);
    expect(await pass(funnel)).toBe('passed');
    funnel.leave(aRequest());
    expect(funnel.counts).toEqual({});
  });

  test('off means as if it were not there, for each of them', async () => {
    for (const off of FUNNEL_LAYERS) {
      const seen: string[] = [];
      const layers = FUNNEL_LAYERS.map((name) => ({ name, pass: () => { seen.push(name); return null; } }));
      await createFunnel([...layers].reverse(), { ...ALL_ON, [off]: false }, createRoleMetrics('gateway', 'g')).pass(aRequest());
      // In the order of the list, whatever order they were given in.
      expect(seen).toEqual(FUNNEL_LAYERS.filter((name) => name !== off));
    }
  });

  test('a refusal ends the way, also after a layer that waited', async () => {
    const seen: string[] = [];
    const layer = (name: FunnelLayerName, verdict: 'pass' | 'wait' | 'refuse') => ({
      name,
      pass: () => {
        seen.push(name);
        return verdict === 'pass' ? null : verdict === 'wait' ? Promise.resolve(null) : limited('r-1');
      },
    });
    const funnel = createFunnel([layer('sold-out-mark', 'wait'), layer('permit', 'pass'), layer('breaker', 'refuse'), layer('in-flight', 'pass')], ALL_ON, createRoleMetrics('gateway', 'g'));
    expect(said(await funnel.pass(aRequest()))).toBe('LIMITED');
    expect(seen).toEqual(['sold-out-mark', 'permit', 'breaker']);
    expect(funnel.counts).toEqual({ 'sold-out-mark': { passed: 1, refused: 0 }, permit: { passed: 1, refused: 0 }, breaker: { passed: 0, refused: 1 }, 'in-flight': { passed: 0, refused: 0 } });
  });

  test('counts of each layer are in the metrics, told once', async () => {
    const { funnel, metrics } = funnelOf({ userBucket: { perSecond: 0, burst: 1 } }, ['user-bucket', 'in-flight']);
    for (let time = 0; time < 3; time += 1) await pass(funnel);
    funnel.accepted(aRequest());
    funnel.isKnown(aRequest());
    await metrics.text();
    const text = await metrics.text();
    const value = (layer: string, outcome: string): string | undefined => new RegExp(`^seckill_gateway_funnel_total\\{layer="${layer}",outcome="${outcome}".*\\} (\\d+)$`, 'm').exec(text)?.[1];
    expect([value('user-bucket', 'passed'), value('user-bucket', 'refused'), value('in-flight', 'passed'), value('known', 'passed'), value('permit', 'passed')]).toEqual(['1', '2', '1', '1', undefined]);
  });

  test('a place among the unpaid holds goes back when a later layer refuses, and when the request reserved nothing', async () => {
    const { funnel, book } = funnelOf({}, ['unpaid-holds', 'in-flight'], null, 1);
    const first = aRequest({ requestId: 'r-1', userId: '1' });
    expect(said(await funnel.pass(first))).toBe('passed');
    expect(await pass(funnel, { requestId: 'r-2', userId: '2' })).toBe('LIMITED');
    await expect.poll(() => [book.holdsOf('u:1'), book.holdsOf('u:2')]).toEqual([['r-1'], []]);
    funnel.leave(first);
    await expect.poll(() => book.holdsOf('u:1')).toEqual([]);
    expect(said(await funnel.pass(first))).toBe('passed');
    funnel.accepted(first);
    funnel.leave(first);
    await settled();
    expect(book.holdsOf('u:1')).toEqual(['r-1']);
  });

  test.each([['P', ['r-1']], ['S', ['r-1']], ['O', ['r-1']], ['R', []], ['L', []]] as const)('a repeat that Redis knows as %s keeps its place while the unit is held', async (state, left) => {
    const { funnel, book } = funnelOf({}, ['unpaid-holds', 'in-flight']);
    const request = aRequest({ requestId: 'r-1', userId: '1' });
    expect(said(await funnel.pass(request))).toBe('passed');
    funnel.repeated(request, state);
    funnel.leave(request);
    await settled();
    await settled();
    expect(book.holdsOf('u:1')).toEqual(left);
  });

  test.each(['permit', 'unpaid-holds'] as const)('the layer %s cannot be had without the book that all gateways share', (layer) => {
    const tuning = { ...DEFAULT_TUNING, funnel: { ...DEFAULT_FUNNEL, layers: { ...DEFAULT_FUNNEL.layers, [layer]: true } } };
    const dependencies = {
      admission: createAdmission(1), metrics: createRoleMetrics('gateway', 'gateway-1'), view: null, gauge: null, book: null, producer: { ready: () => Promise.resolve(true) },
      config: { activityId: '7', skuIds: ['70'], instance: 'gateway-1', tuning } as const,
      surroundings: { clock: { nowMs: () => 0 }, observer: silentStepObserver, log: () => undefined }, reader: { lookup: () => Promise.resolve({ outcome: 'unavailable', reason: 'x' } as const) },
    };
    expect(() => new GatewayFunnel(dependencies)).toThrow(layer);
  });

  test('a full gateway refuses new requests and counts a known repeat', async () => {
    const { funnel } = funnelOf({}, ['in-flight'], null, 1);
    expect([await pass(funnel), await pass(funnel)]).toEqual(['passed', 'LIMITED']);
    funnel.leave(aRequest());
    expect(await pass(funnel)).toBe('passed');
  });
});
