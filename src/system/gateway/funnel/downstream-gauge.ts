/** How far behind the order consumers are, as the admission limit sees it. Implemented by `kafka-backlog.ts` over the orders topic and by the view of the stock. */
import type { SkuKey } from '../../../domain/ids.js';
import type { StockView } from '../../stock/stock-view.js';
import type { KafkaBacklog } from './kafka-backlog.js';

export interface DownstreamReading {
  readonly stockLeft: number;
  /** Accepted reservations without a result, of all gateways. */
  readonly underway: number;
  /** Messages that the consumers have not finished. */
  readonly lag: number;
  /** Messages finished since ever; only differences mean anything. */
  readonly consumed: number;
  /** Age of the oldest unfinished message, rounded up to the control period; 0: there is none. */
  readonly oldestAgeMs: number;
}

export interface DownstreamGauge {
  /** Null: something did not answer, and nothing is known. Never rejects. */
  read(sku: SkuKey): Promise<DownstreamReading | null>;
  close(): Promise<void>;
}

export function createDownstreamGauge(view: StockView, backlog: KafkaBacklog): DownstreamGauge {
  return {
    async read(sku) {
      const [standing, behind] = await Promise.all([view.standing(sku), backlog.read()]);
      if (standing.outcome !== 'done' || standing.value === null || behind === null) return null;
      return { stockLeft: standing.value.stockLeft, underway: standing.value.pendingCount, ...behind };
    },
    close: () => backlog.close(),
  };
}
