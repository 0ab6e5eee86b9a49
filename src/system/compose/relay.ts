/** What the Outbox relay is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startRelay } from '../outbox/relay.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeRelay(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startRelay({ producer: make.steadyProducer(config.namespace.eventsTopic, config.namespace.closesTopic), store: make.outbox(), metrics: make.metrics }, config, make.surroundings);
}
