/** A running stack in the hands of a lab, whether this lab started it or an earlier one did. Shared by the providers, which differ in the servers they pass. */
import { join } from 'node:path';

import type { HostPort } from '../../domain/role-config.js';
import type { LinkName } from '../../domain/roles.js';
import { LabError } from '../../facts/lab-error.js';
import { SERVER_NAMES } from '../../facts/stack-description.js';
import type { ServerName, StackDescription } from '../../facts/stack-description.js';
import type { LinkTarget, NetworkTarget, ServerTarget } from '../../facts/targets.js';
import type { RunningStack } from '../running-stack.js';
import { gatedSpawn } from './gated-spawn.js';
import { networkOfProxies } from './network-of-proxies.js';
import type { ReaperClient } from './reaper-client.js';
import { sweepWithoutReaper } from './sweep-without-reaper.js';
import { REPLICATION_PROXY } from './toxiproxy-server.js';
import type { ToxiproxyApi } from './toxiproxy-api.js';

export interface StackParts {
  readonly reaper: ReaperClient;
  readonly description: StackDescription;
  readonly servers: ReadonlyMap<ServerName, Omit<ServerTarget, keyof NetworkTarget>>;
  /** Its place in a network of servers; absent: only the proxies stand between it and the others. */
  networkOf?(name: ServerName): NetworkTarget;
  /** Process of a server on this host; null where it is none. */
  pidOf(name: ServerName): number | null;
  /** See `RunningStack`. */
  amongServers(address: HostPort): HostPort;
  /** Ends what the reaper does not hold; resolves with what could not be ended, in words. */
  endServers?(): Promise<readonly string[]>;
  /** Lets go of what keeps this process alive. */
  letGo?(): void;
  readonly toxiproxy: ToxiproxyApi;
  readonly replicationListen: HostPort;
  /** This lab started the stack, which ends with it unless told to stay. */
  readonly isOwner: boolean;
  onNote(text: string): void;
}

export function assembleStack(parts: StackParts): RunningStack {
  const { reaper, description, servers } = parts;
  let stopping: Promise<void> | null = null;
  let registered = 0;
  let primary: 'redis-primary' | 'redis-replica' = 'redis-primary';

  function server(name: ServerName): ServerTarget {
    const found = servers.get(name);
    if (found === undefined) throw new Error(`no server ${name}`);
    return { ...found, ...(parts.networkOf?.(name) ?? networkOfProxies(name, primary, description.lanes.length, (lane, link) => linkTarget(parts, lane, link))) };
  }

  async function stop(): Promise<void> {
    const left = (await parts.endServers?.()) ?? [];
    const problems = reaper.isGone() ? await sweepWithoutReaper(description) : await endByReaper(reaper, description);
    await reaper.waitUntilGone();
    reaper.release();
    parts.letGo?.();
    for (const problem of [...left, ...problems]) parts.onNote(problem);
  }

  return {
    get description() {
      const entries = SERVER_NAMES.map((name) => [name, { ...description.servers[name], pid: parts.pidOf(name) }] as const);
      const direct = primary === 'redis-primary' ? description.direct : { ...description.direct, redisPrimary: description.direct.redisReplica };
      return { ...description, direct, servers: Object.fromEntries(entries) as StackDescription['servers'] };
    },
    server,
    link: (lane, name) => linkTarget(parts, lane, name),
    setRedisPrimary: (name) => {
      primary = name;
    },
    amongServers: (address) => parts.amongServers(address),
    spawn: (command, args, options) => gatedSpawn(reaper, command, args, options),
    registerPid: async (pid) => {
      registered += 1;
      await reaper.request({ op: 'adopt', key: `registered-${String(process.pid)}-${String(registered)}`, pid, lifetime: 'client' });
    },
    stop: () => (stopping ??= stop()),
    release: async () => {
      if (parts.isOwner && !reaper.isGone()) await reaper.request({ op: 'stay' });
      parts.letGo?.();
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
    setUpstream: (upstream) => toxiproxy.setUpstream(proxy, parts.amongServers(upstream)),
    counters: () => toxiproxy.counters(proxy),
  };
}

/** Where a later lab finds the list of proxies, to make them again after a restart of Toxiproxy. */
export function proxiesFile(directory: string): string {
  return join(directory, 'proxies.json');
}
