/** A running stack in the hands of a lab, whoever provides it: local processes or containers. */
import type { ChildProcess } from 'node:child_process';

import type { HostPort } from '../domain/role-config.js';
import type { LinkName } from '../domain/roles.js';
import type { ServerName, StackDescription } from '../facts/stack-description.js';
import type { LinkTarget, ServerTarget } from '../facts/targets.js';
import type { GatedSpawnOptions } from './local/gated-spawn.js';

export interface RunningStack {
  /** As it is now: a server that was killed and started again has another pid. */
  readonly description: StackDescription;
  server(name: ServerName): ServerTarget;
  /** Throws when there is no such lane. */
  link(lane: number, name: LinkName | 'replication'): LinkTarget;
  /** Tells which server of the pair is the primary now; the description's direct address follows. Moves nothing by itself. */
  setRedisPrimary(name: 'redis-primary' | 'redis-replica'): void;
  /** Where the servers themselves find what this host finds at `address`: a direct address of the stack, or the proxy between its Redis servers. */
  amongServers(address: HostPort): HostPort;
  /** Starts a role or the generator so that it dies with this lab, however this lab dies. Its pid leads a process group. */
  spawn(command: string, args: readonly string[], options?: GatedSpawnOptions): Promise<ChildProcess>;
  /** Puts a process that runs already (a leader of its own group) under the same care. A kill of the lab before this call leaves it. */
  registerPid(pid: number): Promise<void>;
  /** Ends all servers and roles, removes all folders; resolves when the reaper is gone too. Safe to call twice. */
  stop(): Promise<void>;
  /** Lets go and leaves the servers running; what this lab spawned ends. */
  release(): Promise<void>;
}

export interface StartOptions {
  /** Sets of proxies and Kafka listeners, 1 to 10. */
  readonly lanes: number;
  onNote(text: string): void;
  /** A server ended that nobody had killed through this stack. At most once per start of the server. */
  onServerDeath?(server: ServerName, lastLogLines: readonly string[]): void;
  /** From now on the death of a server could go unseen: whoever tells of them has broken off. */
  onDeathsUnheard?(): void;
  /** The stack stays when this process ends, until `stop` or `down` (for `up`). */
  readonly keepOnExit?: boolean;
  /** It may go on when this lab has ended (`up`, `--keep-running`), so nothing may be set up to end it with the lab's session. */
  readonly mayOutliveLab?: boolean;
  /** Puts Kafka's data on a small disk of its own, so that it can be filled. Local servers only; needs root, LabError STACK_START_FAILED where it cannot be mounted. */
  readonly smallKafkaDisk?: boolean;
  /** Its data and logs have to be files of this machine, for a fault that touches them. Local servers only. */
  readonly serverFiles?: boolean;
  /** Ends a start that is under way; it then rejects with LabError ABORTED. */
  readonly signal?: AbortSignal;
}

export interface OpenOptions {
  onNote?(text: string): void;
  onServerDeath?(server: ServerName, lastLogLines: readonly string[]): void;
  onDeathsUnheard?(): void;
}
