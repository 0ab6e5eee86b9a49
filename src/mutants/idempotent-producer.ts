/**
 * idempotent-producer: the client library's idempotent producer with few retries (decision 0001). When a send is given up it rolls its sequence back; the next message
 * goes under the number of one that is stored, and the broker acknowledges it as a copy without storing it. A scanner that trusts the acknowledgement never looks.
 */
import type { RoleConfig } from '../domain/role-config.js';
import { createKafka } from '../system/order-log/kafka-client.js';
import type { LogProducer, SendResult } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { acknowledgementsLost } from './plans/outages.js';
import { trusting } from './trusting-scanner.js';

function idempotent({ addresses, instance, tuning }: RoleConfig): LogProducer {
  const kafka = createKafka({ address: addresses.kafka, clientId: instance, requestTimeoutMs: 150, connectionTimeoutMs: 500, retries: 5 });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false, retry: { retries: 1, initialRetryTime: 50, maxRetryTime: 100 } });
  const connected = producer.connect().then(() => true, () => false);
  return {
    async send(topic, { key, value }) {
      const sent = producer.send({ topic, acks: -1, messages: [{ key, value }] }).then(
        (): SendResult => ({ outcome: 'sent', reason: null }),
        (error: unknown): SendResult => ({ outcome: 'unknown', reason: String(error) }),
      );
      // The caller waits no longer than it would for the right one; what is under way goes on.
      const late = new Promise<SendResult>((resolve) => setTimeout(() => { resolve({ outcome: 'unknown', reason: 'no answer in time' }); }, tuning.sendBudgetMs));
      return Promise.race([sent, late]);
    },
    ready: () => connected,
    close: () => producer.disconnect(),
  };
}

export const idempotentProducer: Mutant = {
  name: 'idempotent-producer',
  description: 'The gateway sends by an idempotent producer with bounded retries, and the scanner trusts its acknowledgements.',
  warnedBy: 'decision 0001, 000 §15.7',
  caughtBy: 'no-lost-reservation',
  showsUnder: acknowledgementsLost,
  sql: [],
  overrides(config) {
    if (config.role === 'gateway') return { ports: { producer: idempotent(config) } };
    return config.role === 'scanner' ? { wrap: { stock: trusting } } : {};
  },
};
