/** What the closer is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { CLOSE_PAGE_SIZE, startCloser } from '../payment/start-closer.js';
import type { RunningRole } from '../role.js';
import { composeDeadLetters } from './dead-letters.js';
import type { PortMaker } from './ports.js';

export function composeCloser(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { closesTopic, closesGroup } = config.namespace;
  const consumer = make.consumer(closesTopic, closesGroup, CLOSE_PAGE_SIZE);
  return startCloser({ life: make.life(), consumer, deadLetters: composeDeadLetters(config, make, closesGroup), metrics: make.metrics }, config, make.surroundings);
}
