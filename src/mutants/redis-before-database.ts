/**
 * redis-before-database: Redis gives the unit back when the timer of an order runs out, and PostgreSQL is asked afterwards (paper `004` §6: "first Redis, then
 * the database" sells a unit again whose order has been paid).
 */
import { encodeOrderEvent, parseOrderEvent } from '../domain/order-event.js';
import { EventType } from '../domain/reason-codes.js';
import type { RoleConfig } from '../domain/role-config.js';
import { createBatchConsumer } from '../system/order-log/batch-consumer.js';
import type { LogConsumer, ReceivedMessage } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { shortLives } from './plans/lives.js';

function asRelease(message: ReceivedMessage): ReceivedMessage {
  const parsed = parseOrderEvent(message.value);
  if (!parsed.ok || parsed.event.type !== EventType.ORDER_CLOSE_DUE) return message;
  return { ...message, value: encodeOrderEvent({ ...parsed.event, type: EventType.RESERVATION_RELEASED, reason: 'PAY_TIMEOUT', returnsUnit: true }) };
}

/** Reads the timers besides the events, and takes each for a release. */
function hasty({ addresses, instance, namespace, tuning }: RoleConfig): LogConsumer {
  const consumer = createBatchConsumer({
    address: addresses.kafka, clientId: instance, groupId: namespace.eventsGroup, topics: [namespace.eventsTopic, namespace.closesTopic],
    sessionTimeoutMs: tuning.consumerSessionTimeoutMs, log: () => undefined,
  });
  return {
    run: (handle, afterOffsetCommit) => consumer.run((messages, context) => handle(messages.map(asRelease), context), afterOffsetCommit),
    ready: () => consumer.ready(),
    fatal: consumer.fatal,
    stop: () => consumer.stop(),
  };
}

export const redisBeforeDatabase: Mutant = {
  name: 'redis-before-database',
  description: 'Redis gives a unit back by the timer, before PostgreSQL has closed the order.',
  warnedBy: '004 §6',
  caughtBy: 'redis-conservation',
  showsUnder: shortLives,
  sql: [],
  overrides: (config) => (config.role === 'projector' ? { ports: { consumer: hasty(config) } } : {}),
};
