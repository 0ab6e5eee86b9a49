/** What the consumer role counts besides its ledger. */
import type { RoleMetrics } from '../role-metrics.js';

export interface FulfilmentMetrics {
  /**
   * All are dead letters. malformed: no message. refused: the database refuses it even alone. stuck: it never takes it, though it answers. bug: the consumer's own code fails
   * on it, and on no other.
   */
  skipped(cause: 'malformed' | 'refused' | 'stuck' | 'bug'): void;
  /** A chunk goes to the ledger once more. */
  triedAgain(cause: string): void;
}

/** Counted by the consumer itself too, when a handler fails. */
const RETRIED = 'Pieces of a batch worked on again';

export function fulfilmentMetrics(metrics: RoleMetrics): FulfilmentMetrics {
  return {
    skipped(cause) {
      metrics.counter('seckill_consumer_skipped_total', 'Messages that became no order for good, by cause', { cause }).add();
    },
    triedAgain(cause) {
      metrics.counter('seckill_consumer_tried_again_total', 'Chunks handed to the ledger again, by cause', { cause }).add();
      metrics.counter('retry_message_total', RETRIED, { topic: 'orders' }).add();
    },
  };
}
