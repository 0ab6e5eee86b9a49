/** Refusals written in place are those that each item would have heard by itself, byte for byte, and layers, metrics and admission count the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { BATCH_ITEMS_MAX, BINARY_ITEM_BYTES } from '../../../domain/batch-contract.js';
import { DEFAULT_FUNNEL, FUNNEL_LAYERS, type FunnelLayerName } from '../../../domain/funnel.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { silentStepObserver } from '../../../domain/steps.js';
import { createRoleMetrics } from '../../role-metrics.js';
import { memoryBook } from '../../stock/memory-book.test-support.js';
import { createAdmission, type Admission } from '../admission.js';
import * as answers from '../answers.js';
import { GatewayFunnel } from '../funnel/gateway-funnel.js';
import { answerRecorder, type AnswerRecorder } from '../gateway-metrics.js';
import { plainItem, type ValidReservation } from '../validate.js';
import { answerInPlace, type AnsweredInPlace, type RefusingDecider } from './answer-in-place.js';
import { binaryItem } from './binary-item.js';
import { decideBatch } from './decide-batch.js';
import { readBatch } from './read-batch.js';
import { writeBatch } from './write-batch.js';

const SKU = { activityId: '7', skuId: '70' };
const WINNERS = 40;
const UNKNOWN = 400;
/** Longer than a test takes on any machine: whether a proof is over is told by real time. */
const MARK_MS = 3_600_000;
/** One that fills would say how long to wait by the moment at which it was asked, and two worlds are asked at two. */
const NEVER_REFILLED = { perSecond: 0, burst: 5 };

interface World {
  readonly funnel: GatewayFunnel;
  readonly decider: RefusingDecider;
  readonly admission: Admission;
  readonly recorder: AnswerRecorder;
  /** All counters and gauges; how long things took is left out. */
  metrics(): Promise<readonly string[]>;
  setWaiting(waiting: number): void;
}

function valid(n: number, user: number): ValidReservation {
  const item = plainItem(SKU, `r-${String(n)}`, String(user));
  if (!item.ok) throw new Error('a plain item is valid');
  return item.value;
}

/** A gateway whose first winners bought here and whose others were read from Redis; the line is full when more than 64 wait. */
async function world(on: readonly FunnelLayerName[], soldOut: boolean): Promise<World> {
  const layers = Object.fromEntries(FUNNEL_LAYERS.map((name) => [name, on.includes(name)])) as Record<FunnelLayerName, boolean>;
  const loaded = Array.from({ length: WINNERS }, (_winner, n) => ({ requestId: `r-${String(n)}`, userId: String(n + 1) }));
  const admission = createAdmission(1_000_000);
  const metrics = createRoleMetrics('gateway', 'gateway-1');
  const funnel = new GatewayFunnel({
    admission, metrics, book: memoryBook(), gauge: null,
    view: {
      standing: () => Promise.resolve({ outcome: 'done', value: { stockLeft: 0, soldOutTurn: '1:1', pendingCount: 1, acceptedCount: WINNERS } }),
      accepted: () => Promise.resolve({ outcome: 'done', value: { requests: loaded, nextCursor: '0' } }),
    },
    config: { activityId: '7', skuIds: ['70'], instance: 'gateway-1', tuning: { ...DEFAULT_TUNING, funnel: { ...DEFAULT_FUNNEL, soldOutMarkMs: MARK_MS, userBucket: NEVER_REFILLED, layers } } },
    surroundings: { clock: { nowMs: () => 1_700_000_000_000 }, observer: silentStepObserver, log: () => undefined },
    producer: { ready: () => Promise.resolve(true) },
    reader: { lookup: () => Promise.resolve({ outcome: 'unavailable', reason: 'x' }), unitsMayReturn: () => Promise.resolve(true) },
  });
  let waiting = 0;
  funnel.watchLine('70', () => waiting);
  funnel.stockLeft('70', 0);
  for (let n = 0; n < WINNERS / 2; n += 1) funnel.accepted(valid(n, n + 1));
  if (soldOut) {
    funnel.soldOut(valid(UNKNOWN, UNKNOWN), { turn: '1:1', reopensInMs: 0, acceptedCount: -1 }, performance.now());
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  }
  const decider: RefusingDecider = {
    // As in submit.ts, where who is let in goes on to Redis.
    decide(request) {
      if (funnel.isKnown(request)) return Promise.resolve(answers.accepted(SKU, request.requestId, 'known', true));
      return Promise.resolve(funnel.pass(request)).then((verdict) => verdict ?? answers.unavailable(request.requestId));
    },
    standingRefusal: ({ skuId }) => funnel.standingRefusal(skuId),
  };
  return {
    funnel, decider, admission,
    recorder: answerRecorder(metrics, { activityId: '7', skuIds: ['70'] }),
    metrics: async () => (await metrics.text()).split('\n').filter((line) => /^seckill_(requests|rate|sold_out_total|duplicate|gateway_funnel)/.test(line)),
    setWaiting: (now) => { waiting = now; },
  };
}

const log = (): void => undefined;
type Form = 'json' | 'binary';
/** Request and user; as a binary item one of these may also be no id at all. */
type Item = readonly [request: number, user: number, flaw?: Flaw];

const FLAWS: Readonly<Record<string, (item: Buffer) => void>> = {
  'no user': (item) => item.fill(0, 0, 8),
  'a user beyond int8': (item) => { item[0] = 128; },
  'no request id': (item) => { item[8] = 0; },
  'a request id that does not fit': (item) => { item[8] = 24; },
  'another alphabet': (item) => { item[9] = 0x20; },
  'something behind the request id, which nobody looks at': (item) => { item[31] = 0x41; },
};
type Flaw = keyof typeof FLAWS;

function itemOf([request, user, flaw]: Item): Buffer {
  const item = binaryItem(`r-${String(request)}`, String(user));
  if (flaw !== undefined) FLAWS[flaw]?.(item);
  return item;
}

const BODIES: Readonly<Record<Form, (items: readonly Item[]) => Buffer>> = {
  json: (items) => Buffer.from(`[${items.map(([request, user]) => `{"requestId":"r-${String(request)}","userId":"${String(user)}","quantity":1}`).join(',')}]`),
  binary: (items) => Buffer.concat(items.map(itemOf)),
};

async function oneByOne(form: Form, body: Buffer, decider: RefusingDecider): Promise<AnsweredInPlace> {
  const read = readBatch(form, body, SKU);
  if (!read.ok) throw new Error(read.problem);
  const decided = await decideBatch(read.items, SKU, decider, log);
  return { bytes: writeBatch(form, decided), told: { answers: decided } };
}

/** A winner's request by himself, by another, another request of a winner, and strangers. */
const ids = fc.tuple(fc.integer({ min: 0, max: UNKNOWN }), fc.integer({ min: 1, max: UNKNOWN })).chain(([request, user]) => fc.constantFrom<Item>([request, user], [request, request + 1]));
const flawed = fc.tuple(ids, fc.constantFrom(...Object.keys(FLAWS))).map(([[request, user], flaw]): Item => [request, user, flaw]);
const BATCHES: Readonly<Record<Form, fc.Arbitrary<Item[]>>> = {
  json: fc.array(ids, { minLength: 1, maxLength: 60 }),
  binary: fc.array(fc.oneof({ weight: 9, arbitrary: ids }, { weight: 1, arbitrary: flawed }), { maxLength: 60 }),
};

const STATES: readonly { readonly name: string; readonly on: readonly FunnelLayerName[]; readonly soldOut: boolean; readonly waiting: number; readonly code: string }[] = [
  { name: 'the mark stands', on: ['sold-out-mark', 'line', 'in-flight'], soldOut: true, waiting: 1_000, code: 'TEMP_SOLD_OUT' },
  { name: 'the line is full', on: ['sold-out-mark', 'line', 'in-flight'], soldOut: false, waiting: 64, code: 'QUEUE_FULL' },
  { name: 'the mark stands in front of layers that look at each', on: ['sold-out-mark', 'user-bucket', 'line'], soldOut: true, waiting: 0, code: 'TEMP_SOLD_OUT' },
];

describe.each(STATES.flatMap((state) => (['json', 'binary'] as const).map((form) => ({ ...state, form }))))('$form: $name', ({ form, on, soldOut, waiting, code }) => {
  test('every batch has the answer of its items one by one', async () => {
    const [together, alone] = await Promise.all([world(on, soldOut), world(on, soldOut)]);
    for (const each of [together, alone]) each.setWaiting(waiting);
    await fc.assert(
      fc.asyncProperty(BATCHES[form], async (batch) => {
        const body = BODIES[form](batch);
        const inPlace = await answerInPlace(form, body, SKU, together.decider, log);
        const asked = await oneByOne(form, body, alone.decider);
        if (inPlace === null) throw new Error('not in place');
        expect(inPlace.bytes.toString('latin1')).toBe(asked.bytes.toString('latin1'));
        expect(inPlace.told.answers.length + (inPlace.told.alike?.count ?? 0)).toBe(batch.length);
        expect(together.funnel.counts).toEqual(alone.funnel.counts);
        expect(together.admission.inFlight).toBe(alone.admission.inFlight);
        together.recorder.batchAnswered(inPlace.told, performance.now(), SKU.skuId);
        alone.recorder.batchAnswered(asked.told, performance.now(), SKU.skuId);
      }),
      { numRuns: 200 },
    );
    const counted = await together.metrics();
    expect(counted).toEqual(await alone.metrics());
    expect(counted.some((line) => line.includes(`result_code="${code}"`) && !line.endsWith(' 0'))).toBe(true);
    const strangers = await answerInPlace(form, BODIES[form]([[UNKNOWN, UNKNOWN], [UNKNOWN - 1, UNKNOWN - 1]]), SKU, together.decider, log);
    expect(strangers?.told).toMatchObject({ answers: [], alike: { answer: { answer: { code } }, count: 2 } });
  });
});

test.each([
  ['nobody is refused', ['sold-out-mark', 'line', 'in-flight'], 63],
  ['a layer before the line looks at each', ['user-bucket', 'line'], 64],
] as const)('decides nothing in place where %s', async (_name, on, waiting) => {
  const { decider, setWaiting } = await world(on, false);
  setWaiting(waiting);
  for (const form of ['json', 'binary'] as const) expect(answerInPlace(form, BODIES[form]([[UNKNOWN, UNKNOWN]]), SKU, decider, log)).toBeNull();
});

test.each([
  ['json', 'what is not of the plain form', Buffer.from('[{"requestId":"r-1","userId":"1","quantity":2}]')],
  ['ndjson', 'a line', Buffer.from('{"requestId":"r-1","userId":"1","quantity":1}')],
  ['binary', 'half an item', Buffer.alloc(BINARY_ITEM_BYTES + 1)],
  ['binary', 'an item too many', Buffer.alloc(BINARY_ITEM_BYTES * (BATCH_ITEMS_MAX + 1))],
] as const)('%s: %s is left to the parser', async (form, _what, body) => {
  const { decider } = await world(['sold-out-mark'], true);
  expect(answerInPlace(form, body, SKU, decider, log)).toBeNull();
});
