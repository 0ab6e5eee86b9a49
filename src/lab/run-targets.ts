/** What the faults of a run may touch: the links of its lane, the servers of its stack, its role processes, and the lab's own direct looks. */
import type { SkuKey } from '../domain/ids.js';
import type { Namespace } from '../domain/namespace.js';
import type { LinkName } from '../domain/roles.js';
import type { ServerName, StackDescription } from '../facts/stack-description.js';
import type { LinkTarget, RedisServer, ServerTarget, Targets } from '../facts/targets.js';
import { createDatabaseTarget } from './database-target.js';
import { kafkaDisk, postgresDisk } from './disk-target.js';
import { createPoison } from './poison.js';
import type { RoleSupervisor } from './role-supervisor.js';
import { createRedelivery } from './redelivery.js';
import { createRedisMemory } from './redis-memory.js';
import { createRedisPair } from './redis-pair.js';
import { createTampering } from './tampering.js';
import { openWitness } from './witness.js';

/** The part of a stack handle that faults need; `RunningStack` has it. */
export interface FaultableStack {
  readonly description: Pick<StackDescription, 'direct' | 'servers' | 'provider'>;
  server(name: ServerName): ServerTarget;
  link(lane: number, name: LinkName | 'replication'): LinkTarget;
  setRedisPrimary(name: RedisServer): void;
}

export interface RunTargets extends Targets {
  /** Closes the witness's connections; they do not hold the process either way. */
  close(): Promise<void>;
}

/** The supervisor is asked anew each time, so this may be made before the roles are started. */
export function runTargets(of: { readonly stack: FaultableStack; readonly lane: number; readonly supervisor: Pick<RoleSupervisor, 'roles'>; readonly namespace: Namespace; readonly sku: SkuKey }): RunTargets {
  const { stack, lane, supervisor } = of;
  const { direct } = stack.description;
  // After a failover the witness asks the Redis that is the primary then.
  const current = { ...direct, get redisPrimary() { return stack.description.direct.redisPrimary; } };
  const { servers } = stack.description;
  const witness = openWitness(current, of.namespace, (server) => servers[server].logFile, stack.description.provider === 'containers' ? 'forwarded' : 'own');
  return {
    link: (name) => stack.link(lane, name),
    server: (name) => stack.server(name),
    roles: (role) => supervisor.roles(role),
    witness,
    redelivery: createRedelivery(direct, of.namespace),
    poison: createPoison(current, of.namespace),
    redis: createRedisPair(stack, of.namespace, of.sku),
    redisMemory: createRedisMemory(current, servers['redis-primary'].directory, of.namespace, of.sku),
    tampering: createTampering(current, of.namespace, of.sku),
    database: createDatabaseTarget(direct.postgres, of.namespace),
    disk: (server) => (server === 'kafka' ? kafkaDisk(stack.description) : postgresDisk(stack.description, of.namespace)),
    close: () => witness.close(),
  };
}
