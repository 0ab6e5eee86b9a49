/** Refusals written in place are those that each item would have heard by itself, byte for byte, and the layers count the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { DEFAULT_FUNNEL, FUNNEL_LAYERS, type FunnelLayerName } from '../../../domain/funnel.js';
import { DEFAULT_TUNING } from '../../../domain/role-config.js';
import { silentStepObserver } from '../../../domain/steps.js';
import { createRoleMetrics } from '../../role-metrics.js';
import { memoryBook } from '../../stock/memory-book.test-support.js';
import { createAdmission } from '../admission.js';
import * as answers from '../answers.js';
import { GatewayFunnel } from '../funnel/gateway-funnel.js';
import { plainItem, type ValidReservation } from '../validate.js';
import { answerInPlace, type RefusingDecider } from './answer-in-place.js';
import { decideBatch } from './decide-batch.js';
import { readBatch } from './read-batch.js';
import { writeBatch } from './write-batch.js';

const SKU = { activityId: '7', skuId: '70' };
const WINNERS = 40;
const UNKNOWN = 400;
/** Longer than a test takes on any machine: whether a proof is over is told by real time. */
const MARK_MS = 3_600_000;

interface World {
  readonly funnel: GatewayFunnel;
  readonly decider: RefusingDecider;
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
  const funnel = new GatewayFunnel({
    admission: createAdmission(1_000_000), metrics: createRoleMetrics('gateway', 'gateway-1'), book: memoryBook(), gauge: null,
    view: {
      standing: () => Promise.resolve({ outcome: 'done', value: { stockLeft: 0, soldOutTurn: '1:1', pendingCount: 1, acceptedCount: WINNERS } }),
      accepted: () => Promise.resolve({ outcome: 'done', value: { requests: loaded, nextCursor: '0' } }),
    },
    config: { activityId: '7', skuIds: ['70'], instance: 'gateway-1', tuning: { ...DEFAULT_TUNING, funnel: { ...DEFAULT_FUNNEL, soldOutMarkMs: MARK_MS, layers } } },
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
  return { funnel, decider, setWaiting: (now) => { waiting = now; } };
}

const log = (): void => undefined;
const bodyOf = (pairs: readonly (readonly [number, number])[]): Buffer =>
  Buffer.from(`[${pairs.map(([request, user]) => `{"requestId":"r-${String(request)}","userId":"${String(user)}","quantity":1}`).join(',')}]`);

async function oneByOne(body: Buffer, decider: RefusingDecider): Promise<Buffer> {
  const read = readBatch('json', body, SKU);
  if (!read.ok) throw new Error(read.problem);
  return writeBatch('json', await decideBatch(read.items, SKU, decider, log));
}

/** A winner's request by himself, by another, another request of a winner, and strangers. */
const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: UNKNOWN }), fc.integer({ min: 1, max: UNKNOWN })).chain(([request, user]) => fc.constantFrom<readonly [number, number]>([request, user], [request, request + 1])), { minLength: 1, maxLength: 60 });

const STATES: readonly { readonly name: string; readonly on: readonly FunnelLayerName[]; readonly soldOut: boolean; readonly waiting: number; readonly code: string }[] = [
  { name: 'the mark stands', on: ['sold-out-mark', 'line', 'in-flight'], soldOut: true, waiting: 1_000, code: 'TEMP_SOLD_OUT' },
  { name: 'the line is full', on: ['sold-out-mark', 'line', 'in-flight'], soldOut: false, waiting: 64, code: 'QUEUE_FULL' },
  { name: 'the mark stands in front of layers that look at each', on: ['sold-out-mark', 'user-bucket', 'line'], soldOut: true, waiting: 0, code: 'TEMP_SOLD_OUT' },
];

describe.each(STATES)('$name', ({ on, soldOut, waiting, code }) => {
  test('every batch has the answer of its items one by one', async () => {
    const [together, alone] = await Promise.all([world(on, soldOut), world(on, soldOut)]);
    for (const each of [together, alone]) each.setWaiting(waiting);
    await fc.assert(
      fc.asyncProperty(pairs, async (batch) => {
        const body = bodyOf(batch);
        const inPlace = await answerInPlace(body, SKU, together.decider, log);
        expect(inPlace?.bytes.toString()).toBe((await oneByOne(body, alone.decider)).toString());
        expect((inPlace?.told.answers.length ?? 0) + (inPlace?.told.alike?.count ?? 0)).toBe(batch.length);
        expect(together.funnel.counts).toEqual(alone.funnel.counts);
      }),
      { numRuns: 200 },
    );
    const strangers = await answerInPlace(bodyOf([[UNKNOWN, UNKNOWN], [UNKNOWN - 1, UNKNOWN - 1]]), SKU, together.decider, log);
    expect(strangers?.told).toMatchObject({ answers: [], alike: { answer: { answer: { code } }, count: 2 } });
  });
});

test.each([
  ['nobody is refused', ['sold-out-mark', 'line', 'in-flight'], 63],
  ['a layer before the line looks at each', ['user-bucket', 'line'], 64],
] as const)('decides nothing in place where %s', async (_name, on, waiting) => {
  const { decider, setWaiting } = await world(on, false);
  setWaiting(waiting);
  expect(answerInPlace(bodyOf([[UNKNOWN, UNKNOWN]]), SKU, decider, log)).toBeNull();
});

test('what is not of the plain form is left to the parser', async () => {
  const { decider } = await world(['sold-out-mark'], true);
  expect(answerInPlace(Buffer.from('[{"requestId":"r-1","userId":"1","quantity":2}]'), SKU, decider, log)).toBeNull();
});
