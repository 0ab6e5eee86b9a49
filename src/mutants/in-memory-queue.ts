/**
 * in-memory-queue: while the broker is away the gateway keeps the messages in its memory and says that they were sent (paper `004` §10). No breaker opens, everybody
 * is let in, and all of it hangs on one process.
 */
import type { LogMessage, LogProducer } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { brokerAway } from './plans/outages.js';

const TRY_EVERY_MS = 100;

function hoarding(producer: LogProducer): LogProducer {
  const hoard: { topic: string; message: LogMessage }[] = [];
  let emptying = false;
  const timer = setInterval(() => {
    if (!emptying) void empty();
  }, TRY_EVERY_MS);
  async function empty(): Promise<void> {
    emptying = true;
    for (let next = hoard[0]; next !== undefined; next = hoard[0]) {
      if ((await producer.send(next.topic, next.message)).outcome !== 'sent') break;
      hoard.shift();
    }
    emptying = false;
  }
  return {
    async send(topic, message) {
      const result = await producer.send(topic, message);
      if (result.outcome !== 'sent') hoard.push({ topic, message });
      return { outcome: 'sent', reason: null };
    },
    ready: () => producer.ready(),
    async close() {
      clearInterval(timer);
      await producer.close();
    },
  };
}

export const inMemoryQueue: Mutant = {
  name: 'in-memory-queue',
  description: 'Without a broker the gateway queues in its own memory and goes on selling.',
  warnedBy: '004 §10',
  caughtBy: 'fail-closed',
  showsUnder: brokerAway,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { wrap: { producer: hoarding } } : {}),
};
