/**
 * A running stack as written to `stack.json`: everything another process needs to use it, fault it or end it.
 */
import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import type { LinkName, RoleName } from '../domain/roles.js';

export const SERVER_NAMES = ['redis-primary', 'redis-replica', 'postgres', 'kafka', 'toxiproxy'] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

export interface ServerDescription {
  readonly name: ServerName;
  readonly address: HostPort;
  /** Process id on this host; null for a server in a container or elsewhere. */
  readonly pid: number | null;
  readonly version: string;
  readonly directory: string | null;
  readonly logFile: string | null;
  /** Only of a server in a container. */
  readonly container?: ContainerDescription;
}

export interface ContainerDescription {
  readonly id: string;
  /** Name of the image, as the engine was asked for it. */
  readonly image: string;
  /** Content address of the image on its engine. */
  readonly imageId: string;
  /** As its registry knows it; null for an image that never saw one. */
  readonly digest: string | null;
}

/** A lane is one set of proxies and Kafka listeners, so that faults of two cases never share a proxy. */
export interface LaneDescription {
  readonly index: number;
  /** Where each role reaches each store: the proxy's listening address. */
  readonly links: Readonly<Record<LinkName, HostPort>>;
  /** Toxiproxy's name of each link's proxy. */
  readonly proxies: Readonly<Record<LinkName, string>>;
  /** Free ports of this lane for role processes, below the ephemeral range. */
  readonly rolePorts: readonly number[];
}

export interface StackDescription {
  readonly schemaVersion: 1;
  readonly provider: 'local' | 'containers' | 'external';
  /** Unique per start. */
  readonly id: string;
  readonly startedAt: string;
  /** Root of all folders of this stack; removed at the end. */
  readonly directory: string;
  /** Process that cleans up; `down` signals it. */
  readonly reaperPid: number | null;
  readonly servers: Readonly<Record<ServerName, ServerDescription>>;
  /** Direct addresses, for seeding and harvest only. Kafka's is the DIRECT listener. */
  readonly direct: {
    readonly redisPrimary: HostPort;
    readonly redisReplica: HostPort;
    readonly postgres: PostgresAddress;
    readonly kafka: HostPort;
    readonly toxiproxyApi: HostPort;
  };
  /** Toxiproxy's name of the proxy between replica and primary. */
  readonly replicationProxy: string | null;
  readonly lanes: readonly LaneDescription[];
}

/** Roles of a lane share one Kafka listener each; named `L<lane>_<ROLE>` in the broker's configuration. */
export function kafkaListenerName(lane: number, role: RoleName): string {
  return `L${String(lane)}_${role.toUpperCase()}`;
}
