/** What a consuming role gives the messages to that it cannot work off. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createDeadLetterSender, type DeadLetterSender } from '../recovery/dead-letter-sender.js';
import type { PortMaker } from './ports.js';

/** `group`: the consumer group that gives up. */
export function composeDeadLetters(config: RoleConfig, make: PortMaker, group: string): DeadLetterSender {
  const topic = config.namespace.deadLettersTopic;
  return createDeadLetterSender({ openProducer: () => make.steadyProducer(topic), topic, group, metrics: make.metrics, surroundings: make.surroundings });
}
