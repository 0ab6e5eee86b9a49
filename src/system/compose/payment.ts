/** What the payment role is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { startPayment } from '../payment/start-payment.js';
import type { RunningRole } from '../role.js';
import type { PortMaker } from './ports.js';

export function composePayment(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startPayment({ life: make.life(), channel: make.channel(), metrics: make.metrics }, config, make.surroundings);
}
