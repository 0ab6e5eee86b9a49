/** toxiproxy-server, and the proxies of a stack: one per (lane, role, store), and one between the replica and the primary. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { HostPort } from '../../domain/role-config.js';
import { linkName, ROLE_LINKS, ROLE_NAMES } from '../../domain/roles.js';
import type { LinkName, RoleName, StoreName } from '../../domain/roles.js';
import { plainEnvironment } from '../workshop.js';
import type { LanePorts, PortPlan } from './port-plan.js';
import type { ServerLaunch } from './server-launch.js';
import type { ProxyPlan } from './toxiproxy-api.js';

export const REPLICATION_PROXY = 'replication';

export function proxyName(lane: number, link: LinkName): string {
  return `L${String(lane)}-${link}`;
}

export async function planToxiproxy(program: string, directory: string, port: number): Promise<ServerLaunch> {
  const folder = join(directory, 'toxiproxy');
  await mkdir(folder);
  return {
    name: 'toxiproxy',
    command: program,
    args: ['-host', '127.0.0.1', '-port', String(port), '-proxy-metrics'],
    workingFolder: folder,
    // One line per connection otherwise, and a storm has many.
    env: plainEnvironment({ LOG_LEVEL: 'error' }),
    user: null,
    logFile: join(folder, 'server.log'),
    postgresData: null,
  };
}

/** Where Toxiproxy listens and where it finds the servers, by the ports of the plan. */
export interface ProxyPlaces {
  readonly listenHost: string;
  upstream(server: 'redis-primary' | 'postgres' | 'kafka', port: number): HostPort;
}

const ON_THIS_HOST: ProxyPlaces = { listenHost: '127.0.0.1', upstream: (_, port) => ({ host: '127.0.0.1', port }) };

export function planProxies(ports: PortPlan, places: ProxyPlaces = ON_THIS_HOST): ProxyPlan[] {
  const plan = (name: string, port: number, upstream: HostPort): ProxyPlan => ({ name, listen: `${places.listenHost}:${String(port)}`, upstream: `${upstream.host}:${String(upstream.port)}` });
  return [
    plan(REPLICATION_PROXY, ports.replicationProxy, places.upstream('redis-primary', ports.redisPrimary)),
    ...ports.lanes.flatMap((lane, index) =>
      ROLE_NAMES.flatMap((role) =>
        ROLE_LINKS[role].map((store) => {
          const link = linkName(role, store);
          return plan(proxyName(index, link), lane.proxies[link], upstreamOf(places, ports, lane, role, store));
        }),
      ),
    ),
  ];
}

function upstreamOf(places: ProxyPlaces, ports: PortPlan, lane: LanePorts, role: RoleName, store: StoreName): HostPort {
  if (store === 'redis') return places.upstream('redis-primary', ports.redisPrimary);
  if (store === 'postgres') return places.upstream('postgres', ports.postgres);
  const listener = lane.kafkaListeners.get(role);
  if (listener === undefined) throw new Error(`${role} has a link to Kafka but no listener`);
  return places.upstream('kafka', listener);
}
