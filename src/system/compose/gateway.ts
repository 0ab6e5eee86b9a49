/** What the gateway is made of, with its HTTP server and without. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createGatewayCore, startGateway, type GatewayCore, type GatewayDependencies } from '../gateway/start-gateway.js';
import type { RunningRole } from '../role.js';
import { createPortMaker, type PortMaker, type RoleOverrides } from './ports.js';

function dependenciesOf(make: PortMaker): GatewayDependencies {
  return { stock: make.stock(), producer: make.gatewayProducer(), reader: make.reader(), metrics: make.metrics, view: make.stockView(), book: make.entryBook() };
}

export function composeGateway(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  return startGateway(dependenciesOf(make), config, make.surroundings);
}

/** The gateway's submit and query over real stores, without HTTP: for a generator that calls them in its own process. */
export function composeGatewayCore(config: RoleConfig, overrides: RoleOverrides = {}): GatewayCore {
  const make = createPortMaker(config, overrides);
  return createGatewayCore(dependenciesOf(make), config, make.surroundings);
}
