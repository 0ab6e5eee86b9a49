/** What the projector is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startRedisFigures } from '../figures/redis-figures.js';
import { withSampler } from '../figures/with-sampler.js';
import { startProjector } from '../outbox/projector.js';
import type { RunningRole } from '../role.js';
import { composeDeadLetters } from './dead-letters.js';
import type { PortMaker } from './ports.js';

/** One call of a Redis script takes about as many; a batch of the broker may be thousands. */
const MAX_EVENTS = 500;

export async function composeProjector(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const { eventsTopic, eventsGroup } = config.namespace;
  const consumer = make.consumer(eventsTopic, eventsGroup, MAX_EVENTS);
  const deadLetters = composeDeadLetters(config, make, eventsGroup);
  const stock = make.stock();
  const projector = await startProjector({ stock, consumer, deadLetters, metrics: make.metrics }, config, make.surroundings);
  return withSampler(projector, startRedisFigures(stock, config, make.metrics, make.surroundings));
}
