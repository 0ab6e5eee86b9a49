/** What the PostgreSQL side counts. Made per role over the role's own recorder. */
import { OrderResult } from '../../domain/reason-codes.js';
import { createRateWindow } from '../rate-window.js';
import type { CounterRecorder, RoleMetrics } from '../role-metrics.js';
import type { MessageResult, TransactionOutcome } from './ledger-port.js';

export interface LedgerMetrics {
  transactionEnded(outcome: TransactionOutcome, durationMs: number): void;
  triedAgain(cause: string): void;
}

/** Over which `order_create_tps` is taken. */
const WINDOW_MS = 10_000;

export function ledgerMetrics(metrics: RoleMetrics): LedgerMetrics {
  const seconds = metrics.histogram('order_create_duration', 'Seconds of an order transaction from begin to end, tries included');
  const tps = metrics.gauge('order_create_tps', 'Orders made a second, over the last 10 s');
  const fresh = metrics.counter('inbox_new_total', 'Messages that the Inbox took for the first time');
  const repeated = metrics.counter('inbox_conflict_total', 'Messages that the Inbox knew already');
  const conflicts = metrics.counter('order_unique_conflict_total', 'Messages refused since their user or their request has an order or a reservation already');
  const empty = (cause: string): CounterRecorder => metrics.counter('inventory_token_empty_total', 'Claims that found no unit: none left, or all free ones locked by others', { cause });
  const noneLeft = empty('none-left');
  const allLocked = empty('all-locked');
  const made = createRateWindow(WINDOW_MS);
  metrics.beforeText(() => {
    tps.set(made.perSecond());
  });
  return {
    transactionEnded(outcome, durationMs) {
      seconds.observe(durationMs / 1_000);
      metrics.counter('seckill_order_transactions_total', 'Order transactions by their end', { outcome: outcome.outcome }).add();
      if (outcome.outcome !== 'committed') return;
      const again = outcome.results.filter((result) => result.repeated).length;
      repeated.add(again);
      fresh.add(outcome.results.length - again);
      for (const [result, count] of countsOf(outcome.results)) {
        metrics.counter('seckill_order_results_total', 'Decided messages by result, repeats excluded', { result }).add(count);
        if (result === OrderResult.ORDER_CREATED) made.add(count);
        if (result === OrderResult.REJECTED_NO_FINAL_STOCK) noneLeft.add(count);
        if (result === OrderResult.REJECTED_DUPLICATE_USER || result === OrderResult.REJECTED_DUPLICATE_REQUEST) conflicts.add(count);
      }
    },
    triedAgain(cause) {
      metrics.counter('seckill_order_transaction_retries_total', 'Whole transactions tried again, by cause', { cause }).add();
      if (cause === 'UnitsLocked') allLocked.add();
    },
  };
}

function countsOf(results: readonly MessageResult[]): ReadonlyMap<OrderResult, number> {
  const counts = new Map<OrderResult, number>();
  for (const { repeated, result } of results) if (!repeated) counts.set(result, (counts.get(result) ?? 0) + 1);
  return counts;
}
