/** What the scanner is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startScanner } from '../recovery/scanner.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composeScanner(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const dependencies = { stock: make.stock(), judge: make.judge(), producer: make.steadyProducer(config.namespace.ordersTopic), metrics: make.metrics };
  return startScanner(dependencies, config, make.surroundings);
}
