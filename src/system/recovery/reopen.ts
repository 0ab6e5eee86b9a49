/**
 * The end of a rebuild: the stock is let go in steps (paper `004` §13, item 8), each only when the consumer has worked off what the step before brought. A
 * reopening that a restart interrupts goes on where it was, since what is held back stands in Redis.
 */
import type { SkuKey } from '../../domain/ids.js';
import type { ReconcilerTuning } from '../../domain/reconciler-tuning.js';
import type { OrderLogReader } from '../order-log/order-log-reader.js';
import type { RedisMirror } from '../stock/mirror.js';

export interface ReopenTools {
  readonly mirror: RedisMirror;
  readonly reader: Pick<OrderLogReader, 'lag'>;
  readonly tuning: ReconcilerTuning;
}

export interface Reopening {
  /** Lets a step go when it is time; the units that are still held back, or null when nothing could be done. */
  step(sku: SkuKey, epoch: number, heldBack: number, nowMs: number): Promise<number | null>;
}

export function createReopening({ mirror, reader, tuning }: ReopenTools): Reopening {
  const running = new Map<string, { readonly epoch: number; readonly stepUnits: number; lastStepAtMs: number }>();
  return {
    async step(sku, epoch, heldBack, nowMs) {
      const name = `${sku.activityId}:${sku.skuId}`;
      let opening = running.get(name);
      if (opening?.epoch !== epoch) {
        opening = { epoch, stepUnits: Math.max(1, Math.ceil(heldBack / tuning.reopenSteps)), lastStepAtMs: -Infinity };
        running.set(name, opening);
      }
      if (nowMs - opening.lastStepAtMs < tuning.reopenStepMs) return heldBack;
      const lag = await reader.lag();
      if (lag === null || lag > tuning.reopenLagMax) return heldBack;
      const released = await mirror.rebuildRelease(sku, epoch, opening.stepUnits);
      if (released.outcome !== 'done' || released.value === 'other-epoch') return null;
      opening.lastStepAtMs = nowMs;
      return released.value.stillHeldBack;
    },
  };
}
