/** What each server's container is told: command, environment, ports. Pure. The official images and the stand-ins take the same. */
import type { HostPort } from '../../domain/role-config.js';
import type { ServerName } from '../../facts/stack-description.js';
import { CLUSTER_ID, KAFKA_HEAP, KAFKA_PERFORMANCE, kafkaListeners, kafkaSettings } from '../local/kafka-server.js';
import type { PortPlan } from '../local/port-plan.js';
import { postgresSettings, SUPERUSER } from '../local/postgres-settings.js';
import { REDIS_SETTINGS } from '../local/redis-server.js';
import type { ProxyPlaces } from '../local/toxiproxy-server.js';
import type { ImageRole } from './image-choice.js';

/** A port of the container, and where this host finds it on its loopback. */
export interface PublishedPort {
  readonly inside: number;
  readonly onHost: number;
}

export interface ContainerPlan {
  readonly name: ServerName;
  readonly image: Exclude<ImageRole, 'roles'>;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly PublishedPort[];
}

/** Ports that the images expose. Kafka's and the proxies' are those of the host: they are named to clients. */
const REDIS_PORT = 6379;
const POSTGRES_PORT = 5432;
const TOXIPROXY_PORT = 8474;

export function planContainers(ports: PortPlan, postgresPassword: string): readonly ContainerPlan[] {
  return [
    { name: 'redis-primary', image: 'redis', command: redisCommand(null), environment: {}, ports: [{ inside: REDIS_PORT, onHost: ports.redisPrimary }] },
    { name: 'redis-replica', image: 'redis', command: redisCommand(ports.replicationProxy), environment: {}, ports: [{ inside: REDIS_PORT, onHost: ports.redisReplica }] },
    {
      name: 'postgres',
      image: 'postgres',
      command: ['postgres', ...postgresSettings()],
      environment: {
        POSTGRES_USER: SUPERUSER,
        POSTGRES_PASSWORD: postgresPassword,
        POSTGRES_DB: 'postgres',
        // The data of one run needs no flush before the server even runs.
        POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C --no-sync',
      },
      ports: [{ inside: POSTGRES_PORT, onHost: ports.postgres }],
    },
    { name: 'kafka', image: 'kafka', command: [], environment: kafkaEnvironment(ports), ports: [{ inside: ports.kafkaDirect, onHost: ports.kafkaDirect }] },
    {
      name: 'toxiproxy',
      image: 'toxiproxy',
      command: ['-host=0.0.0.0', '-proxy-metrics'],
      // One line per connection otherwise, and a storm has many.
      environment: { LOG_LEVEL: 'error' },
      ports: [{ inside: TOXIPROXY_PORT, onHost: ports.toxiproxyApi }, ...proxyPorts(ports).map((port) => ({ inside: port, onHost: port }))],
    },
  ];
}

function redisCommand(replicationPort: number | null): string[] {
  const options = REDIS_SETTINGS.flatMap(([name, value]) => [`--${name}`, value]);
  return ['redis-server', ...options, ...(replicationPort === null ? [] : ['--replicaof', 'toxiproxy', String(replicationPort)])];
}

function kafkaEnvironment(ports: PortPlan): Record<string, string> {
  // The data folder of the image: its user may write there.
  const settings = kafkaSettings({ listeners: kafkaListeners(ports), controllerPort: ports.kafkaController, listenHost: '', dataFolder: '/var/lib/kafka/data' });
  return {
    CLUSTER_ID,
    KAFKA_HEAP_OPTS: KAFKA_HEAP.join(' '),
    KAFKA_JVM_PERFORMANCE_OPTS: KAFKA_PERFORMANCE.join(' '),
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [environmentName(name), value])),
  };
}

/** `log.dirs` → `KAFKA_LOG_DIRS`, as the image reads it back. */
export function environmentName(setting: string): string {
  return `KAFKA_${setting.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_').toUpperCase()}`;
}

function proxyPorts(ports: PortPlan): number[] {
  return ports.lanes.flatMap((lane) => Object.values(lane.proxies));
}

/** Toxiproxy listens on all addresses of its container and finds the servers by name. */
export function proxyPlaces(ports: PortPlan): ProxyPlaces {
  const inside = addressBook(ports);
  return { listenHost: '0.0.0.0', upstream: (server, port) => inside(port) ?? { host: server, port } };
}

/** Where the servers find each other what this host finds at a published port; null: no such port. */
export function addressBook(ports: PortPlan): (hostPort: number) => HostPort | null {
  const book = new Map(planContainers(ports, '').flatMap((plan) => plan.ports.map(({ inside, onHost }): [number, HostPort] => [onHost, { host: plan.name, port: inside }])));
  book.set(ports.replicationProxy, { host: 'toxiproxy', port: ports.replicationProxy });
  return (port) => book.get(port) ?? null;
}
