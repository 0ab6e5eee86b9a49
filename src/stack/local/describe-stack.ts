/** Puts what was started into the words of `stack.json`. */
import type { HostPort, PostgresAddress } from '../../domain/role-config.js';
import type { LinkName } from '../../domain/roles.js';
import type { LaneDescription, ServerDescription, ServerName, StackDescription } from '../../facts/stack-description.js';
import { KAFKA_VERSION } from '../cache-folder.js';
import { LINK_NAMES } from './port-plan.js';
import type { LanePorts, PortPlan } from './port-plan.js';
import { postgresVersion } from './postgres-server.js';
import { askRedis } from './server-readiness.js';
import { proxyName, REPLICATION_PROXY } from './toxiproxy-server.js';

export interface StartedStack {
  readonly provider: 'local' | 'containers';
  readonly id: string;
  readonly startedAt: string;
  readonly directory: string;
  readonly reaperPid: number | null;
  readonly ports: PortPlan;
  readonly postgres: PostgresAddress;
  readonly toxiproxyVersion: string;
  /** What only the provider knows of a server. */
  detailsOf(name: ServerName): Pick<ServerDescription, 'pid' | 'directory' | 'logFile' | 'container'>;
}

export async function describeStack(started: StartedStack): Promise<StackDescription> {
  const { ports, postgres } = started;
  const [redisVersion, postgresServerVersion] = await Promise.all([versionOfRedis(local(ports.redisPrimary)), postgresVersion(postgres)]);
  const describe = (name: ServerName, port: number, version: string): ServerDescription => ({ name, address: local(port), version, ...started.detailsOf(name) });
  return {
    schemaVersion: 1,
    provider: started.provider,
    id: started.id,
    startedAt: started.startedAt,
    directory: started.directory,
    reaperPid: started.reaperPid,
    servers: {
      'redis-primary': describe('redis-primary', ports.redisPrimary, redisVersion),
      'redis-replica': describe('redis-replica', ports.redisReplica, redisVersion),
      postgres: describe('postgres', ports.postgres, postgresServerVersion),
      kafka: describe('kafka', ports.kafkaDirect, KAFKA_VERSION),
      toxiproxy: describe('toxiproxy', ports.toxiproxyApi, started.toxiproxyVersion),
    },
    direct: {
      redisPrimary: local(ports.redisPrimary),
      redisReplica: local(ports.redisReplica),
      postgres,
      kafka: local(ports.kafkaDirect),
      toxiproxyApi: local(ports.toxiproxyApi),
    },
    replicationProxy: REPLICATION_PROXY,
    lanes: ports.lanes.map(describeLane),
  };
}

function describeLane(lane: LanePorts, index: number): LaneDescription {
  return {
    index,
    links: Object.fromEntries(LINK_NAMES.map((link) => [link, local(lane.proxies[link])])) as Record<LinkName, HostPort>,
    proxies: Object.fromEntries(LINK_NAMES.map((link) => [link, proxyName(index, link)])) as Record<LinkName, string>,
    rolePorts: lane.rolePorts,
  };
}

async function versionOfRedis(address: HostPort): Promise<string> {
  return /redis_version:(\S+)/.exec(await askRedis(address, 'INFO server'))?.[1] ?? 'unknown';
}

function local(port: number): HostPort {
  return { host: '127.0.0.1', port };
}
