/** What the relay counts and shows. */
import type { SendOutcome } from '../../domain/reason-codes.js';
import type { CounterRecorder, RoleMetrics } from '../role-metrics.js';
import type { OutboxFigures } from './outbox-store.js';

export interface RelayMetrics {
  readonly sends: Readonly<Record<SendOutcome, CounterRecorder>>;
  readonly lostLeases: CounterRecorder;
  readonly recoveredLeases: CounterRecorder;
  show(figures: OutboxFigures): void;
}

export function relayMetrics(metrics: RoleMetrics): RelayMetrics {
  const sends = (outcome: SendOutcome): CounterRecorder => metrics.counter('seckill_outbox_sends_total', 'Events handed to the broker, by outcome', { outcome });
  const unsent = metrics.gauge('seckill_outbox_unsent', 'Events not yet sent');
  const dead = metrics.gauge('seckill_outbox_dead', 'Events given up after the last try');
  const oldest = metrics.gauge('seckill_outbox_oldest_seconds', 'Age of the oldest unsent event');
  return {
    sends: { sent: sends('sent'), 'surely-not-sent': sends('surely-not-sent'), unknown: sends('unknown') },
    lostLeases: metrics.counter('seckill_outbox_lost_leases_total', 'Events whose claim was gone when they were to be sent or marked'),
    recoveredLeases: metrics.counter('seckill_outbox_recovered_leases_total', 'Events taken back from claims that ran out'),
    show(figures) {
      unsent.set(figures.unsent);
      dead.set(figures.dead);
      oldest.set(figures.oldestMs / 1_000);
    },
  };
}
