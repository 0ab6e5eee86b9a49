/**
 * Marks confirmed messages as SENT in Redis, many a call. Best effort: the mark is an observation and decides nothing, so an answer waits
 * for it only a moment.
 */
import type { RequestId, ReservationId, SkuKey } from '../../domain/ids.js';
import { silentStepObserver, type StepObserver } from '../../domain/steps.js';
import type { StockPort } from '../stock/stock-port.js';

export interface SentMarker {
  /** Resolves when the mark is written, has failed, or took too long. Never rejects. */
  mark(sku: SkuKey, requestId: RequestId, reservationId: ReservationId): Promise<void>;
}

/** An answer is not held up longer than this for a mark. */
const PATIENCE_MS = 50;

interface Collecting {
  readonly requestIds: RequestId[];
  readonly reservationIds: ReservationId[];
  readonly written: Promise<void>;
}

export function createSentMarker(stock: Pick<StockPort, 'markSent'>, observer: StepObserver): SentMarker {
  const collecting = new Map<string, Collecting>();

  async function write(sku: SkuKey, name: string, batch: Pick<Collecting, 'requestIds' | 'reservationIds'>): Promise<void> {
    await new Promise(setImmediate);
    collecting.delete(name);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    const marked = stock.markSent(sku, batch.requestIds).then(() => undefined);
    await Promise.race([marked, patience]);
    clearTimeout(timer);
    if (observer !== silentStepObserver) await observer.reached('gateway.after-mark-sent', batch.reservationIds);
  }

  return {
    mark(sku, requestId, reservationId) {
      const name = `${sku.activityId}:${sku.skuId}`;
      let batch = collecting.get(name);
      if (batch === undefined) {
        const ids = { requestIds: [] as RequestId[], reservationIds: [] as ReservationId[] };
        batch = { ...ids, written: write(sku, name, ids) };
        collecting.set(name, batch);
      }
      batch.requestIds.push(requestId);
      batch.reservationIds.push(reservationId);
      return batch.written;
    },
  };
}
