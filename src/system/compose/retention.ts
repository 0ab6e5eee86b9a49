/** What retention is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startRetention } from '../recovery/retention.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeRetention(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startRetention({ store: make.retention(), metrics: make.metrics }, config, make.surroundings);
}
