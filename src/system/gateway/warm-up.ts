/**
 * Compiles the hot path before the first customer comes. A cold gateway spends about ten times the processor time per request; in the first half
 * second of a sale, when everything is sold, that alone made winners wait 0.5–1 s. So the whole submit function runs some thousand times over
 * stores made of memory, before the gateway listens. Nothing of it reaches Redis, Kafka, metrics or the step observer.
 */
import { createAdmission } from './admission.js';
import type { SkuKey } from '../../domain/ids.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { silentStepObserver } from '../../domain/steps.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import { freshRecord } from '../stock/record-codec.js';
import type { StockPort } from '../stock/stock-port.js';
import { createSubmit } from './submit.js';

/** As many at once as a full batch of the reserve script. */
const AT_ONCE = 64;

const producer: LogProducer = {
  send: () => Promise.resolve({ outcome: 'sent', reason: null }),
  ready: () => Promise.resolve(true),
  close: () => Promise.resolve(),
};

/** Every request wins, as in the moment that matters. */
function winningStock(nowMs: number): StockPort {
  const notAsked = (): never => {
    throw new Error('the warm-up only reserves');
  };
  return {
    reserve: (_sku: SkuKey, requests) => Promise.resolve({
      outcome: 'done',
      decisions: requests.map((request) => ({ code: 'RESERVED', record: freshRecord(request, '1'), stockLeft: 1 })),
    }),
    markSent: () => Promise.resolve('done'),
    meta: () => Promise.resolve({
      outcome: 'done',
      meta: { activityVersion: '1', startAtMs: nowMs - 1_000, endAtMs: nowMs + 3_600_000, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' },
    }),
    lookup: notAsked,
    claimPending: notAsked,
    project: notAsked,
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

/** Runs `requests` reservations through the submit function; 0 does nothing. */
export async function warmUpSubmit(config: RoleConfig, surroundings: RoleSurroundings, requests: number): Promise<void> {
  const [skuId] = config.skuIds;
  if (requests === 0 || skuId === undefined) return;
  const submit = createSubmit({
    stock: winningStock(surroundings.clock.nowMs()),
    producer,
    admission: createAdmission(config.tuning.maxInFlight),
    config,
    surroundings: { ...surroundings, observer: silentStepObserver },
  });
  for (let done = 0; done < requests; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) =>
      submit({ activityId: config.activityId, skuId, requestId: `warm-${String(done + index)}`, userId: String(1 + done + index), body: '{"quantity":1}' })));
  }
}
