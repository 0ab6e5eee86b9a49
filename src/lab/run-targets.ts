/** What the faults of a run may touch: the links of its lane, the servers of its stack, its role processes, and the lab's own direct looks. */
import type { Namespace } from '../domain/namespace.js';
import type { LinkName } from '../domain/roles.js';
import type { ServerName, StackDescription } from '../facts/stack-description.js';
import type { LinkTarget, ServerTarget, Targets } from '../facts/targets.js';
import { createPoison } from './poison.js';
import type { RoleSupervisor } from './role-supervisor.js';
import { createRedelivery } from './redelivery.js';
import { openWitness } from './witness.js';

/** The part of a stack handle that faults need; `LocalStack` has it. */
export interface FaultableStack {
  readonly description: Pick<StackDescription, 'direct'>;
  server(name: ServerName): ServerTarget;
  link(lane: number, name: LinkName | 'replication'): LinkTarget;
}

export interface RunTargets extends Targets {
  /** Closes the witness's connections; they do not hold the process either way. */
  close(): Promise<void>;
}

/** The supervisor is asked anew each time, so this may be made before the roles are started. */
export function runTargets(of: { readonly stack: FaultableStack; readonly lane: number; readonly supervisor: Pick<RoleSupervisor, 'roles'>; readonly namespace: Namespace }): RunTargets {
  const { stack, lane, supervisor } = of;
  const witness = openWitness(stack.description.direct, of.namespace);
  return {
    link: (name) => stack.link(lane, name),
    server: (name) => stack.server(name),
    roles: (role) => supervisor.roles(role),
    witness,
    redelivery: createRedelivery(stack.description.direct, of.namespace),
    poison: createPoison(stack.description.direct, of.namespace),
    close: () => witness.close(),
  };
}
