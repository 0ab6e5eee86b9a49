/** What the PostgreSQL side counts. Made per role over the role's own recorder. */
import type { OrderResult } from '../../domain/reason-codes.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { MessageResult, TransactionOutcome } from './ledger-port.js';

export interface LedgerMetrics {
  transactionEnded(outcome: TransactionOutcome, durationMs: number): void;
  triedAgain(cause: string): void;
}

export function ledgerMetrics(metrics: RoleMetrics): LedgerMetrics {
  const seconds = metrics.histogram('seckill_order_transaction_seconds', 'Order transactions from begin to end, tries included');
  const repeated = metrics.counter('seckill_inbox_repeated_total', 'Messages that the Inbox knew already');
  return {
    transactionEnded(outcome, durationMs) {
      seconds.observe(durationMs / 1_000);
      metrics.counter('seckill_order_transactions_total', 'Order transactions by their end', { outcome: outcome.outcome }).add();
      if (outcome.outcome !== 'committed') return;
      repeated.add(outcome.results.filter((result) => result.repeated).length);
      for (const [result, count] of countsOf(outcome.results)) {
        metrics.counter('seckill_order_results_total', 'Decided messages by result, repeats excluded', { result }).add(count);
      }
    },
    triedAgain(cause) {
      metrics.counter('seckill_order_transaction_retries_total', 'Whole transactions tried again, by cause', { cause }).add();
    },
  };
}

function countsOf(results: readonly MessageResult[]): ReadonlyMap<OrderResult, number> {
  const counts = new Map<OrderResult, number>();
  for (const { repeated, result } of results) if (!repeated) counts.set(result, (counts.get(result) ?? 0) + 1);
  return counts;
}
