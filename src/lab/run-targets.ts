/** What the faults of a run may touch: the links of its lane, the servers of its stack, its role processes, and the lab's own direct looks. */
import type { LinkName, RoleName } from '../domain/roles.js';
import type { ServerName, StackDescription } from '../facts/stack-description.js';
import type { LinkTarget, RoleTarget, ServerTarget, Targets } from '../facts/targets.js';
import { openWitness } from './witness.js';

/** The part of a stack handle that faults need; `LocalStack` has it. */
export interface FaultableStack {
  readonly description: Pick<StackDescription, 'direct'>;
  server(name: ServerName): ServerTarget;
  link(lane: number, name: LinkName | 'replication'): LinkTarget;
}

export interface RunTargets extends Targets {
  /** Closes the witness's connections. */
  close(): Promise<void>;
}

/** `roles`: of the supervisor; asked anew each time, so it may be made before the roles are started. */
export function createRunTargets(stack: FaultableStack, lane: number, roles: (role: RoleName) => readonly RoleTarget[], ordersTopic: string): RunTargets {
  const witness = openWitness(stack.description.direct, ordersTopic);
  return {
    link: (name) => stack.link(lane, name),
    server: (name) => stack.server(name),
    roles,
    witness,
    close: () => witness.close(),
  };
}
