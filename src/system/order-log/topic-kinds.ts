/** What a topic is for, as a label value: the name itself carries the namespace and would be a new series in every run. */
import type { Namespace } from '../../domain/namespace.js';

export const TOPIC_KINDS = ['orders', 'events', 'closes', 'dead-letters', 'other'] as const;
export type TopicKind = (typeof TOPIC_KINDS)[number];

export function topicKind(namespace: Namespace, topic: string): TopicKind {
  switch (topic) {
    case namespace.ordersTopic:
      return 'orders';
    case namespace.eventsTopic:
      return 'events';
    case namespace.closesTopic:
      return 'closes';
    case namespace.deadLettersTopic:
      return 'dead-letters';
    default:
      return 'other';
  }
}
