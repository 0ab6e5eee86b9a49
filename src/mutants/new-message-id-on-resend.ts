/**
 * new-message-id-on-resend: the scanner sends a lost reservation again as if it were a new message. Every Inbox between here and the order is
 * blind to the copy (paper `000` §15.3: a resend uses the same message id).
 */
import { randomUUID } from 'node:crypto';

import { encodeOrderMessage, parseOrderMessage } from '../domain/order-message.js';
import type { LogMessage, LogProducer } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { gatewayDies } from './plans/cuts.js';

function underNewId(message: LogMessage): LogMessage {
  const parsed = parseOrderMessage(message.value);
  return parsed.ok ? { ...message, value: encodeOrderMessage({ ...parsed.message, messageId: randomUUID() }) } : message;
}

function forgetful(producer: LogProducer): LogProducer {
  return {
    send: (topic, message) => producer.send(topic, underNewId(message)),
    ready: () => producer.ready(),
    close: () => producer.close(),
  };
}

export const newMessageIdOnResend: Mutant = {
  name: 'new-message-id-on-resend',
  description: 'The scanner resends under a new message id.',
  warnedBy: '000 §7.7 and §15.3',
  caughtBy: 'stable-message-id',
  showsUnder: gatewayDies,
  sql: [],
  overrides: (config) => (config.role === 'scanner' ? { wrap: { producer: forgetful } } : {}),
};
