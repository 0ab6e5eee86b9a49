/** What the projector is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startProjector } from '../outbox/projector.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeProjector(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { eventsTopic, eventsGroup } = config.namespace;
  return startProjector({ stock: make.stock(), consumer: make.consumer(eventsTopic, eventsGroup), metrics: make.metrics }, config, make.surroundings);
}
