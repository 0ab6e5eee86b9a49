/** toxiproxy-server, and the proxies of a stack: one per (lane, role, store), and one between the replica and the primary. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

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

export function planProxies(ports: PortPlan): ProxyPlan[] {
  return [
    { name: REPLICATION_PROXY, listen: local(ports.replicationProxy), upstream: local(ports.redisPrimary) },
    ...ports.lanes.flatMap((lane, index) =>
      ROLE_NAMES.flatMap((role) =>
        ROLE_LINKS[role].map((store) => {
          const link = linkName(role, store);
          return { name: proxyName(index, link), listen: local(lane.proxies[link]), upstream: local(upstreamPort(ports, lane, role, store)) };
        }),
      ),
    ),
  ];
}

function upstreamPort(ports: PortPlan, lane: LanePorts, role: RoleName, store: StoreName): number {
  if (store === 'redis') return ports.redisPrimary;
  if (store === 'postgres') return ports.postgres;
  const listener = lane.kafkaListeners.get(role);
  if (listener === undefined) throw new Error(`${role} has a link to Kafka but no listener`);
  return listener;
}

function local(port: number): string {
  return `127.0.0.1:${String(port)}`;
}
