/**
 * trusting-scanner: the scanner leaves alone what was acknowledged as sent (paper `000` §8.2: "sent" is an observation). The gateway's producer does not wait for the
 * broker either, so "sent" means that a socket took the bytes. A message that vanishes on the way is missed by nobody.
 */
import type { RoleConfig } from '../domain/role-config.js';
import { RedisRecordState } from '../domain/status-codes.js';
import { createKafka } from '../system/order-log/kafka-client.js';
import type { LogProducer } from '../system/order-log/order-log-port.js';
import type { StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { sendLost } from './plans/cuts.js';

/** Of what is claimed only what nobody has acknowledged. */
export function trusting(stock: StockPort): StockPort {
  return {
    ...stock,
    async claimPending(sku, leaseMs, limit) {
      const claim = await stock.claimPending(sku, leaseMs, limit);
      return { ...claim, records: claim.records.filter((record) => record.state !== RedisRecordState.SENT) };
    },
  };
}

function fireAndForget({ addresses, instance }: RoleConfig): LogProducer {
  const kafka = createKafka({ address: addresses.kafka, clientId: instance, requestTimeoutMs: 1_000, connectionTimeoutMs: 1_000, retries: 3 });
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  const connected = producer.connect().then(() => true, () => false);
  return {
    async send(topic, { key, value }) {
      try {
        await producer.send({ topic, acks: 0, messages: [{ key, value }] });
        return { outcome: 'sent', reason: null };
      } catch (error) {
        return { outcome: 'unknown', reason: String(error) };
      }
    },
    ready: () => connected,
    close: () => producer.disconnect(),
  };
}

export const trustingScanner: Mutant = {
  name: 'trusting-scanner',
  description: 'The scanner trusts that what was sent arrives, and the producer that what was written was sent.',
  warnedBy: '000 §8.2 and §7.8',
  caughtBy: 'no-lost-reservation',
  showsUnder: sendLost,
  sql: [],
  overrides(config) {
    if (config.role === 'gateway') return { ports: { producer: fireAndForget(config) } };
    return config.role === 'scanner' ? { wrap: { stock: trusting } } : {};
  },
};
