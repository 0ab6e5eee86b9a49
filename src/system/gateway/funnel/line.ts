/**
 * The line in front of Redis: when more requests wait for its answer than there are units left, the rest would only wait to hear "sold out", and would make the winners
 * behind them wait too. They hear `429 QUEUE_FULL` and may try again: not all who wait will get a unit, since repeats and users who have one are among them.
 */
import { queueFull } from '../answers.js';
import type { FunnelLayer } from './layer.js';

export interface LineLayer extends FunnelLayer {
  watch(skuId: string, unanswered: () => number): void;
  /** As Redis has said last. */
  stockLeft(skuId: string, units: number): void;
}

/** Of those who wait some repeat, and some have one already: a tenth more than there are units may wait (the repeats of the papers' storm). */
const WAITING_PER_UNIT = 1.1;
/** One full reserve call may wait however little is left: somebody has to ask whether units came back. */
const WAITING_AT_LEAST = 64;

interface Line {
  unanswered: () => number;
  /** Most that may wait; no bound until Redis has said what is left. */
  most: number;
}

export function createLineLayer(): LineLayer {
  const lines = new Map<string, Line>();
  const isFull = (skuId: string): boolean => {
    const line = lines.get(skuId);
    return line !== undefined && line.unanswered() >= line.most;
  };
  return {
    name: 'line',
    watch(skuId, unanswered) {
      lines.set(skuId, { unanswered, most: Infinity });
    },
    stockLeft(skuId, units) {
      const line = lines.get(skuId);
      if (line !== undefined) line.most = Math.max(WAITING_AT_LEAST, units * WAITING_PER_UNIT);
    },
    pass: ({ sku, requestId }) => (isFull(sku.skuId) ? queueFull(requestId) : null),
    // True when it is said, and said once for the items of a batch: who is refused does not enter the line.
    standing: (skuId) => (isFull(skuId) ? queueFull('') : 'passes'),
  };
}
