/** What the compensation worker is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startCompensator } from '../recovery/compensation-worker.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeCompensator(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startCompensator({ store: make.compensations(), stock: make.stock(), life: make.life(), channel: make.channel(), metrics: make.metrics }, config, make.surroundings);
}
