/** What a consumer knows of its lag, its age and its pace (paper `000` §12.3). */
import { createRateWindow } from '../rate-window.js';
import type { RoleMetrics } from '../role-metrics.js';

/** Told by a consumer about each piece of a batch. Offsets and times as Kafka gives them. */
export interface ConsumerProgress {
  /** A piece goes to the handler. `behind`: messages of the partition from the first of the piece on; `oldestAtMs`: when that one was appended. */
  began(topic: string, partition: number, behind: number, oldestAtMs: number): void;
  /** The piece is finished; `behind`: what of the partition is left. */
  finished(topic: string, partition: number, messages: number, behind: number): void;
  /** The handler failed and gets the same piece again. */
  failed(topic: string): void;
  /** The partition is no longer ours. */
  left(topic: string, partition: number): void;
}

interface PartitionState {
  behind: number;
  /** null: nothing in hand. */
  oldestAtMs: number | null;
  touchedAtMs: number;
}

/** Over which `consumer_tps` is taken. */
const WINDOW_MS = 10_000;
/** A partition that went to another member without a word is forgotten after this. */
const FORGET_AFTER_MS = 30_000;

/**
 * Gauges of all partitions that this instance holds. The lag is that of the last fetch, so it stands still while a handler waits; the age of the
 * oldest message in hand goes on growing, which is why it is the one to alert on. `nowMs`: wall clock, as Kafka's timestamps are.
 */
export function consumerProgress(metrics: RoleMetrics, kindOf: (topic: string) => string, nowMs: () => number = () => Date.now()): ConsumerProgress {
  const partitions = new Map<string, PartitionState>();
  const seen = new Set<string>();
  const finished = createRateWindow(WINDOW_MS);
  const tps = metrics.gauge('consumer_tps', 'Messages finished a second, over the last 10 s');
  const lag = metrics.gauge('consumer_lag', 'Messages behind the end of the partitions held, at the last fetch');
  const age = metrics.gauge('oldest_message_age', 'Seconds since the oldest message in hand was appended; 0 with nothing in hand');
  const retried = (topic: string) => metrics.counter('retry_message_total', 'Pieces of a batch worked on again', { topic: kindOf(topic) });

  metrics.beforeText(() => {
    const now = nowMs();
    let behind = 0;
    let oldestAtMs = now;
    for (const [name, state] of partitions) {
      if (state.oldestAtMs === null && now - state.touchedAtMs > FORGET_AFTER_MS) partitions.delete(name);
      else {
        behind += state.behind;
        oldestAtMs = Math.min(oldestAtMs, state.oldestAtMs ?? now);
      }
    }
    tps.set(finished.perSecond());
    lag.set(behind);
    age.set((now - oldestAtMs) / 1_000);
  });

  return {
    began(topic, partition, behind, oldestAtMs) {
      if (!seen.has(topic)) {
        seen.add(topic);
        retried(topic).add(0);
      }
      partitions.set(`${topic} ${String(partition)}`, { behind, oldestAtMs, touchedAtMs: nowMs() });
    },
    finished(topic, partition, messages, behind) {
      finished.add(messages);
      partitions.set(`${topic} ${String(partition)}`, { behind, oldestAtMs: null, touchedAtMs: nowMs() });
    },
    failed(topic) {
      retried(topic).add();
    },
    left(topic, partition) {
      partitions.delete(`${topic} ${String(partition)}`);
    },
  };
}
