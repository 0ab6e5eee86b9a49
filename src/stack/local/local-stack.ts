/** A running local stack in the hands of a lab, whether this lab started it or an earlier one did. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import type { HostPort } from '../../domain/role-config.js';
import type { LinkName } from '../../domain/roles.js';
import { LabError } from '../../facts/lab-error.js';
import { SERVER_NAMES } from '../../facts/stack-description.js';
import type { ServerName, StackDescription } from '../../facts/stack-description.js';
import type { LinkTarget, ServerTarget } from '../../facts/targets.js';
import { gatedSpawn } from './gated-spawn.js';
import type { GatedSpawnOptions } from './gated-spawn.js';
import type { ManagedServer } from './managed-server.js';
import type { ReaperClient } from './reaper-client.js';
import { sweepWithoutReaper } from './sweep-without-reaper.js';
import { REPLICATION_PROXY } from './toxiproxy-server.js';
import type { ToxiproxyApi } from './toxiproxy-api.js';

export interface LocalStack {
  /** As it is now: a server that was killed and started again has another pid. */
  readonly description: StackDescription;
  server(name: ServerName): ServerTarget;
  /** Throws when there is no such lane. */
  link(lane: number, name: LinkName | 'replication'): LinkTarget;
  /** Tells which server of the pair is the primary now; the description's direct address follows. Moves nothing by itself. */
  setRedisPrimary(name: 'redis-primary' | 'redis-replica'): void;
  /** Starts a role or the generator so that it dies with this lab, however this lab dies. Its pid leads a process group. */
  spawn(command: string, args: readonly string[], options?: GatedSpawnOptions): Promise<ChildProcess>;
  /** Puts a process that runs already (a leader of its own group) under the same care. A kill of the lab before this call leaves it. */
  registerPid(pid: number): Promise<void>;
  /** Ends all servers and roles, removes all folders; resolves when the reaper is gone too. Safe to call twice. */
  stop(): Promise<void>;
  /** Lets go and leaves the servers running; what this lab spawned ends. */
  release(): Promise<void>;
}

export interface StackParts {
  readonly reaper: ReaperClient;
  readonly description: StackDescription;
  readonly servers: ReadonlyMap<ServerName, ManagedServer>;
  readonly toxiproxy: ToxiproxyApi;
  readonly replicationListen: HostPort;
  /** This lab started the stack, which ends with it unless told to stay. */
  readonly isOwner: boolean;
  onNote(text: string): void;
}

export function assembleStack(parts: StackParts): LocalStack {
  const { reaper, description, servers } = parts;
  let stopping: Promise<void> | null = null;
  let registered = 0;
  let primary: 'redis-primary' | 'redis-replica' = 'redis-primary';

  function server(name: ServerName): ManagedServer {
    const found = servers.get(name);
    if (found === undefined) throw new Error(`no server ${name}`);
    return found;
  }

  async function stop(): Promise<void> {
    const problems = reaper.isGone() ? await sweepWithoutReaper(description) : await endByReaper(reaper, description);
    await reaper.waitUntilGone();
    reaper.release();
    for (const problem of problems) parts.onNote(problem);
  }

  return {
    get description() {
      const entries = SERVER_NAMES.map((name) => [name, { ...description.servers[name], pid: server(name).identity()?.pid ?? null }] as const);
      const direct = primary === 'redis-primary' ? description.direct : { ...description.direct, redisPrimary: description.direct.redisReplica };
      return { ...description, direct, servers: Object.fromEntries(entries) as StackDescription['servers'] };
    },
    server,
    link: (lane, name) => linkTarget(parts, lane, name),
    setRedisPrimary: (name) => {
      primary = name;
    },
    spawn: (command, args, options) => gatedSpawn(reaper, command, args, options),
    registerPid: async (pid) => {
      registered += 1;
      await reaper.request({ op: 'adopt', key: `registered-${String(process.pid)}-${String(registered)}`, pid, lifetime: 'client' });
    },
    stop: () => (stopping ??= stop()),
    release: async () => {
      if (parts.isOwner && !reaper.isGone()) await reaper.request({ op: 'stay' });
      reaper.release();
    },
  };
}

/** The reaper may be killed in the middle of its work; then the rest is done here. */
async function endByReaper(reaper: ReaperClient, description: StackDescription): Promise<readonly string[]> {
  try {
    return (await reaper.request({ op: 'end' })).problems;
  } catch (error) {
    if (error instanceof LabError) return sweepWithoutReaper(description);
    throw error;
  }
}

function linkTarget(parts: StackParts, lane: number, name: LinkName | 'replication'): LinkTarget {
  const { description, toxiproxy } = parts;
  const found = description.lanes[lane];
  if (found === undefined) throw new Error(`the stack has ${String(description.lanes.length)} lanes, no lane ${String(lane)}`);
  const proxy = name === 'replication' ? (description.replicationProxy ?? REPLICATION_PROXY) : found.proxies[name];
  return {
    name,
    listen: name === 'replication' ? parts.replicationListen : found.links[name],
    addToxic: (toxic) => toxiproxy.addToxic(proxy, toxic),
    removeToxic: (toxic) => toxiproxy.removeToxic(proxy, toxic),
    listToxics: () => toxiproxy.listToxics(proxy),
    setEnabled: (enabled) => toxiproxy.setEnabled(proxy, enabled),
    isEnabled: () => toxiproxy.isEnabled(proxy),
    setUpstream: (upstream) => toxiproxy.setUpstream(proxy, upstream),
    counters: () => toxiproxy.counters(proxy),
  };
}

/** Where a later lab finds the list of proxies, to make them again after a restart of Toxiproxy. */
export function proxiesFile(directory: string): string {
  return join(directory, 'proxies.json');
}
