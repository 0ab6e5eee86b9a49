/**
 * Compiles the hot path before the first customer comes. A cold gateway spends about ten times the processor time per request; in the first half
 * second of a sale, when everything is sold, that alone made winners wait 0.5–1 s. So the whole submit function runs some thousand times over
 * stores made of memory, before the gateway listens; where a sold-out mark is kept, batches win and are refused from it as often, since that is what
 * an edge brings.
 * Nothing of it reaches Redis, Kafka, metrics or the step observer.
 */
import { createAdmission } from './admission.js';
import type { SkuKey } from '../../domain/ids.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { silentStepObserver, type StepObserver } from '../../domain/steps.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import { freshRecord } from '../stock/record-codec.js';
import type { ReserveDecision, ReserveRequest, StockPort } from '../stock/stock-port.js';
import { soldOutTurn, type StockView } from '../stock/stock-view.js';
import { decideBatch } from './batch/decide-batch.js';
import { readBatch } from './batch/read-batch.js';
import { writeBatch } from './batch/write-batch.js';
import { openFunnel } from './funnel/open-funnel.js';
import { createSubmit, createSubmitter } from './submit.js';

/** As many at once as a full batch of the reserve script. */
const AT_ONCE = 64;

/** Items of a batch: an edge's usual beat. */
const BATCH_ITEMS = 256;
const EPOCH = '1';

const producer: LogProducer = {
  send: () => Promise.resolve({ outcome: 'sent', reason: null }),
  ready: () => Promise.resolve(true),
  close: () => Promise.resolve(),
};

const notAsked = (): never => {
  throw new Error('the warm-up only reserves');
};

/** A stock that answers every request alike. */
function stockThat(decides: (request: ReserveRequest) => ReserveDecision, nowMs: number): StockPort {
  return {
    reserve: (_sku: SkuKey, requests) => Promise.resolve({ outcome: 'done', decisions: requests.map(decides) }),
    markSent: () => Promise.resolve('done'),
    meta: () => Promise.resolve({
      outcome: 'done',
      meta: { activityVersion: '1', startAtMs: nowMs - 1_000, endAtMs: nowMs + 3_600_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: EPOCH },
    }),
    lookup: notAsked,
    claimPending: notAsked,
    project: notAsked,
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

/** Every request wins, as in the moment that matters. */
const wins = (request: ReserveRequest): ReserveDecision => ({ code: 'RESERVED', record: freshRecord(request, '1'), stockLeft: 1 });

const soldOutTurnOne = soldOutTurn(EPOCH, '1');
const refuses = (): ReserveDecision => ({ code: 'SOLD_OUT', record: null, stockLeft: 0, soldOut: { turn: soldOutTurnOne, reopensInMs: 0, acceptedCount: 0 } });
/** Nobody has been accepted. */
const soldOutView: StockView = {
  standing: () => Promise.resolve({ outcome: 'done', value: { stockLeft: 0, soldOutTurn: soldOutTurnOne, pendingCount: 0, acceptedCount: 0 } }),
  accepted: () => Promise.resolve({ outcome: 'done', value: { requests: [], nextCursor: '0' } }),
};

/** Not the silent one: where somebody is told of the steps, another code runs. */
const observers: readonly StepObserver[] = [silentStepObserver, { reached: () => undefined }];

/** Runs `requests` reservations through the submit function; 0 does nothing. */
export async function warmUpSubmit(config: RoleConfig, around: RoleSurroundings, requests: number): Promise<void> {
  const [skuId] = config.skuIds;
  if (requests === 0 || skuId === undefined) return;
  const sku = { activityId: config.activityId, skuId };
  const inBatches = config.tuning.funnel.layers['sold-out-mark'];
  for (const observer of observers) {
    const surroundings = { ...around, observer };
    await win(sku, config, surroundings, requests / observers.length);
    if (inBatches) await decideBatches(sku, stockThat(wins, around.clock.nowMs()), null, config, surroundings, requests / observers.length);
    if (inBatches) await decideBatches(sku, stockThat(refuses, around.clock.nowMs()), soldOutView, config, surroundings, requests / observers.length);
  }
}

async function win(sku: SkuKey, config: RoleConfig, surroundings: RoleSurroundings, requests: number): Promise<void> {
  const submit = createSubmit({ stock: stockThat(wins, surroundings.clock.nowMs()), producer, admission: createAdmission(config.tuning.maxInFlight), config, surroundings });
  for (let done = 0; done < requests; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) => submit({ ...sku, requestId: `warm-${String(done + index)}`, userId: String(1 + done + index), body: '{"quantity":1}' })));
  }
}

async function decideBatches(sku: SkuKey, stock: StockPort, view: StockView | null, config: RoleConfig, surroundings: RoleSurroundings, requests: number): Promise<void> {
  const admission = createAdmission(config.tuning.maxInFlight);
  const submitter = createSubmitter({ stock, producer, admission, config, surroundings, funnel: openFunnel({ admission, producer, config, surroundings }, view) });
  for (let done = 0; done < requests; done += BATCH_ITEMS) {
    const body = JSON.stringify(Array.from({ length: BATCH_ITEMS }, (_, index) => ({ requestId: `warm-${String(done + index)}`, userId: String(1 + done + index), quantity: 1 })));
    const read = readBatch('json', Buffer.from(body), sku);
    if (read.ok) writeBatch('json', await decideBatch(read.items, sku, (valid) => submitter.decide(valid), (...line) => { surroundings.log(...line); }));
  }
}
