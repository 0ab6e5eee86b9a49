/**
 * letters-unread: of the dead letters only those are kept that speak of a reservation (paper `000` §7.4: dead letters are classified, and worked off by somebody). What
 * nobody could read is thrown away, and with it all that would tell whence it came and whose it was.
 */
import { parseDeadLetter } from '../domain/dead-letter.js';
import type { LogConsumer, ReceivedMessage } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { poisonInSmall } from './plans/lives.js';

function speaksOfReservation({ value }: ReceivedMessage): boolean {
  const parsed = parseDeadLetter(value);
  return parsed.ok && parsed.letter.reservationId !== null;
}

function careless(consumer: LogConsumer): LogConsumer {
  return {
    run: (handle, afterOffsetCommit) => consumer.run((messages, context) => handle(messages.filter(speaksOfReservation), context), afterOffsetCommit),
    ready: () => consumer.ready(),
    fatal: consumer.fatal,
    stop: () => consumer.stop(),
  };
}

export const lettersUnread: Mutant = {
  name: 'letters-unread',
  description: 'The undertaker keeps no dead letter that names no reservation.',
  warnedBy: '000 §7.4',
  caughtBy: 'dead-letters-accounted',
  showsUnder: poisonInSmall,
  sql: [],
  overrides: (config) => (config.role === 'undertaker' ? { wrap: { consumer: careless } } : {}),
};
