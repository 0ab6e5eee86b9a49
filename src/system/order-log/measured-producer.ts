/** A producer that counts and times what it sends (paper `000` §12.3). */
import type { Namespace } from '../../domain/namespace.js';
import type { SendOutcome } from '../../domain/reason-codes.js';
import { createRateWindow } from '../rate-window.js';
import type { CounterRecorder, HistogramRecorder, RoleMetrics } from '../role-metrics.js';
import type { LogProducer } from './order-log-port.js';
import { topicKind } from './topic-kinds.js';

/** Over which `message_send_success_rate` is taken. */
const WINDOW_MS = 60_000;

interface TopicRecorders {
  readonly duration: HistogramRecorder;
  readonly outcomes: Readonly<Record<SendOutcome, CounterRecorder>>;
  readonly unknown: CounterRecorder;
  readonly success: CounterRecorder;
  readonly all: CounterRecorder;
}

function recordersOf(metrics: RoleMetrics, topic: string): TopicRecorders {
  const labels = { topic };
  const counted = (outcome: SendOutcome): CounterRecorder => metrics.counter('message_send_total', 'Messages handed to the broker, by outcome', { topic, outcome });
  const rate = metrics.gauge('message_send_success_rate', 'Share of the sends of the last minute that the broker confirmed; 1 while nothing is sent', labels);
  const all = createRateWindow(WINDOW_MS);
  const success = createRateWindow(WINDOW_MS);
  rate.set(1);
  metrics.beforeText(() => {
    const sends = all.sum();
    rate.set(sends === 0 ? 1 : success.sum() / sends);
  });
  return {
    duration: metrics.histogram('message_send_duration', 'Seconds from handing a message over to knowing what became of it', labels),
    outcomes: { sent: counted('sent'), 'surely-not-sent': counted('surely-not-sent'), unknown: counted('unknown') },
    unknown: metrics.counter('message_send_unknown_total', 'Sends of which nobody knows whether the broker stored them', labels),
    success,
    all,
  };
}

/** The same producer, measured. */
export function measuredProducer(producer: LogProducer, metrics: RoleMetrics, namespace: Namespace): LogProducer {
  const byTopic = new Map<string, TopicRecorders>();
  return {
    ready: () => producer.ready(),
    close: () => producer.close(),
    async send(topic, message) {
      let recorders = byTopic.get(topic);
      if (recorders === undefined) byTopic.set(topic, (recorders = recordersOf(metrics, topicKind(namespace, topic))));
      const startedAtMs = performance.now();
      const result = await producer.send(topic, message);
      recorders.duration.observe((performance.now() - startedAtMs) / 1_000);
      recorders.outcomes[result.outcome].add();
      recorders.all.add();
      if (result.outcome === 'sent') recorders.success.add();
      if (result.outcome === 'unknown') recorders.unknown.add();
      return result;
    },
  };
}
