/**
 * letters-unread: the dead-letter topic is emptied, and nobody writes down what was in it (paper `000` §7.4: dead letters are classified, and worked off by
 * somebody). The partition goes on, and what its message was about is forgotten.
 */
import type { LogConsumer } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { poisonInSmall } from './plans/lives.js';

function careless(consumer: LogConsumer): LogConsumer {
  return {
    run: (_handle, afterOffsetCommit) => consumer.run(() => Promise.resolve(), afterOffsetCommit),
    ready: () => consumer.ready(),
    fatal: consumer.fatal,
    stop: () => consumer.stop(),
  };
}

export const lettersUnread: Mutant = {
  name: 'letters-unread',
  description: 'The undertaker takes dead letters off their topic and keeps none.',
  warnedBy: '000 §7.4',
  caughtBy: 'dead-letters-accounted',
  showsUnder: poisonInSmall,
  sql: [],
  overrides: (config) => (config.role === 'undertaker' ? { wrap: { consumer: careless } } : {}),
};
