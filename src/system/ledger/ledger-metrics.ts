/** Counters of the PostgreSQL side, made on first use in prom-client's default registry. */
import { Counter, Gauge, Histogram, register } from 'prom-client';

function counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
  const known = register.getSingleMetric(name);
  return known instanceof Counter ? known : new Counter({ name, help, labelNames });
}

function gauge(name: string, help: string): Gauge {
  return (register.getSingleMetric(name) as Gauge | undefined) ?? new Gauge({ name, help });
}

export interface LedgerMetrics {
  readonly transactions: Counter<'outcome'>;
  readonly transactionRetries: Counter<'cause'>;
  readonly results: Counter<'result'>;
  readonly repeatedMessages: Counter;
  readonly transactionSeconds: Histogram;
}

export function ledgerMetrics(): LedgerMetrics {
  const seconds = 'seckill_order_transaction_seconds';
  return {
    transactions: counter('seckill_order_transactions_total', 'Order transactions by their end', ['outcome']),
    transactionRetries: counter('seckill_order_transaction_retries_total', 'Whole transactions tried again, by cause', ['cause']),
    results: counter('seckill_order_results_total', 'Decided messages by result, repeats excluded', ['result']),
    repeatedMessages: counter('seckill_inbox_repeated_total', 'Messages that the Inbox knew already', []),
    transactionSeconds: (register.getSingleMetric(seconds) as Histogram | undefined)
      ?? new Histogram({ name: seconds, help: 'Time of one order transaction', buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5] }),
  };
}

export interface FulfilmentMetrics {
  readonly skipped: Counter<'cause'>;
  readonly redelivered: Counter<'cause'>;
}

export function fulfilmentMetrics(): FulfilmentMetrics {
  return {
    skipped: counter('seckill_consumer_skipped_total', 'Messages skipped for good, by cause', ['cause']),
    redelivered: counter('seckill_consumer_tried_again_total', 'Chunks handed to the ledger again, by cause', ['cause']),
  };
}

export interface RelayMetrics {
  readonly sends: Counter<'outcome'>;
  readonly lostLeases: Counter;
  readonly recoveredLeases: Counter;
  readonly unsent: Gauge;
  readonly dead: Gauge;
  readonly oldestMs: Gauge;
}

export function relayMetrics(): RelayMetrics {
  return {
    sends: counter('seckill_outbox_sends_total', 'Events handed to the broker, by outcome', ['outcome']),
    lostLeases: counter('seckill_outbox_lost_leases_total', 'Events whose claim was gone when they were to be marked', []),
    recoveredLeases: counter('seckill_outbox_recovered_leases_total', 'Events taken back from claims that ran out', []),
    unsent: gauge('seckill_outbox_unsent', 'Events not yet sent'),
    dead: gauge('seckill_outbox_dead', 'Events given up after the last try'),
    oldestMs: gauge('seckill_outbox_oldest_ms', 'Age of the oldest unsent event'),
  };
}
