/** What the closer is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { CLOSE_PAGE_SIZE, startCloser } from '../payment/start-closer.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeCloser(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { closesTopic, closesGroup } = config.namespace;
  return startCloser({ life: make.life(), consumer: make.consumer(closesTopic, closesGroup, CLOSE_PAGE_SIZE), metrics: make.metrics }, config, make.surroundings);
}
