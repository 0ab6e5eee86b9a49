/** What retention is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createRetentionStore } from '../recovery/retention-store.js';
import { startRetention } from '../recovery/retention.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeRetention(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startRetention({ store: createRetentionStore(config, make.surroundings), metrics: make.metrics }, config, make.surroundings);
}
