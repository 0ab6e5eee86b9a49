/** What the Outbox relay is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startDatabaseFigures } from '../figures/database-figures.js';
import { withSampler } from '../figures/with-sampler.js';
import { startRelay } from '../outbox/relay.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export async function composeRelay(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const relay = await startRelay({ producer: make.steadyProducer(config.namespace.eventsTopic, config.namespace.closesTopic), store: make.outbox(), metrics: make.metrics }, config, make.surroundings);
  return withSampler(relay, startDatabaseFigures(config, make.metrics, make.surroundings));
}
