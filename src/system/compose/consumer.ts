/** What the order consumer is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { chunkSizeOf, startConsumer } from '../fulfilment/start-consumer.js';
import type { RunningRole } from '../role.js';
import { composeDeadLetters } from './dead-letters.js';
import type { PortMaker } from './ports.js';

/** About this many messages lie between two offset commits: few enough to redo after a crash, many enough for a commit to cost nothing. */
const MESSAGES_PER_COMMIT = 500;

export function composeConsumer(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { ordersTopic, ordersGroup } = config.namespace;
  const chunkSize = chunkSizeOf(config.strategies.consumer);
  // Whole transactions only: a piece that ends in the middle of one would make it smaller than the strategy says.
  const maxMessages = Math.max(1, Math.floor(MESSAGES_PER_COMMIT / chunkSize)) * chunkSize;
  const consumer = make.consumer(ordersTopic, ordersGroup, maxMessages);
  const deadLetters = composeDeadLetters(config, make, ordersGroup);
  return startConsumer({ consumer, ledger: make.ledger(), deadLetters, metrics: make.metrics }, config, make.surroundings);
}
