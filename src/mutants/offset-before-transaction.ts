/**
 * offset-before-transaction: the consumer commits the offset first and works afterwards (paper `004` §10: "first the offset, then the order"). Who dies in
 * between has told the broker that the messages are done, and nobody will ever read them again.
 */
import type { BatchContext, LogConsumer } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { consumerDies } from './plans/cuts.js';

/** The batch is over by then: nobody takes it away any more. */
const NO_BATCH: BatchContext = { heartbeat: () => Promise.resolve(), isRunning: () => true };

function hasty(consumer: LogConsumer): LogConsumer {
  return {
    run: (handle, afterOffsetCommit) =>
      consumer.run(
        () => Promise.resolve(),
        async (messages) => {
          await handle(messages, NO_BATCH);
          await afterOffsetCommit(messages);
        },
      ),
    ready: () => consumer.ready(),
    fatal: consumer.fatal,
    stop: () => consumer.stop(),
  };
}

export const offsetBeforeTransaction: Mutant = {
  name: 'offset-before-transaction',
  description: 'The consumer commits the offset of its messages before it works on them.',
  warnedBy: '004 §10',
  caughtBy: 'inbox-once',
  showsUnder: consumerDies,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { wrap: { consumer: hasty } } : {}),
};
