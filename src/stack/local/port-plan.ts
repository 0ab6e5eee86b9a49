/** Which port of the stack's block is what. Pure. */
import { linkName, ROLE_LINKS, ROLE_NAMES } from '../../domain/roles.js';
import type { LinkName, RoleName } from '../../domain/roles.js';

export interface LanePorts {
  /** Listening port of each link's proxy. */
  readonly proxies: Readonly<Record<LinkName, number>>;
  /** The broker's own listener of each role that uses Kafka. */
  readonly kafkaListeners: ReadonlyMap<RoleName, number>;
  readonly rolePorts: readonly number[];
}

export interface PortPlan {
  readonly redisPrimary: number;
  readonly redisReplica: number;
  readonly postgres: number;
  readonly kafkaDirect: number;
  readonly kafkaController: number;
  readonly toxiproxyApi: number;
  readonly replicationProxy: number;
  readonly lanes: readonly LanePorts[];
}

/** Eight roles with a few instances each, and the gateways. */
const ROLE_PORTS_PER_LANE = 24;
const SERVER_PORTS = 7;

export const KAFKA_ROLES: readonly RoleName[] = ROLE_NAMES.filter((role) => ROLE_LINKS[role].includes('kafka'));
export const LINK_NAMES: readonly LinkName[] = ROLE_NAMES.flatMap((role) => ROLE_LINKS[role].map((store) => linkName(role, store)));
const PORTS_PER_LANE = LINK_NAMES.length + KAFKA_ROLES.length + ROLE_PORTS_PER_LANE;

export function portsNeeded(lanes: number): number {
  return SERVER_PORTS + lanes * PORTS_PER_LANE;
}

/** @param ports at least `portsNeeded(lanes)` of them. */
export function planPorts(ports: readonly number[], lanes: number): PortPlan {
  const rest = [...ports];
  const take = (): number => {
    const port = rest.shift();
    if (port === undefined) throw new Error(`${String(ports.length)} ports are too few for ${String(lanes)} lanes`);
    return port;
  };
  return {
    redisPrimary: take(),
    redisReplica: take(),
    postgres: take(),
    kafkaDirect: take(),
    kafkaController: take(),
    toxiproxyApi: take(),
    replicationProxy: take(),
    lanes: Array.from({ length: lanes }, () => ({
      proxies: Object.fromEntries(LINK_NAMES.map((link) => [link, take()])) as Record<LinkName, number>,
      kafkaListeners: new Map(KAFKA_ROLES.map((role) => [role, take()])),
      rolePorts: Array.from({ length: ROLE_PORTS_PER_LANE }, take),
    })),
  };
}
