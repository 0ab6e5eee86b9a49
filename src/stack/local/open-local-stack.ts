/** Takes a stack in hand that is running already, as described in its `stack.json`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { SERVER_NAMES } from '../../facts/stack-description.js';
import type { ServerName, StackDescription } from '../../facts/stack-description.js';
import type { OpenOptions, RunningStack } from '../running-stack.js';
import { assembleStack, proxiesFile } from './local-stack.js';
import { manageServer } from './managed-server.js';
import type { ManagedServer } from './managed-server.js';
import { attachReaper } from './reaper-client.js';
import { REAPER_SOCKET } from './reaper-protocol.js';
import { loadLaunch } from './server-launch.js';
import type { ServerLaunch } from './server-launch.js';
import { kafkaIsReady, postgresIsReady, redisIsReady } from './server-readiness.js';
import type { ReadinessCheck } from './server-readiness.js';
import { toxiproxyApi } from './toxiproxy-api.js';
import type { ProxyPlan, ToxiproxyApi } from './toxiproxy-api.js';
import { REPLICATION_PROXY } from './toxiproxy-server.js';

/**
 * `stop` ends the stack, `release` leaves it running. Rejects with LabError STACK_GONE when it is not running any more.
 */
export async function openLocalStack(description: StackDescription, options: OpenOptions = {}): Promise<RunningStack> {
  const { directory } = description;
  const reaper = await attachReaper(join(directory, REAPER_SOCKET), description.reaperPid);
  try {
    const onNote = (text: string): void => options.onNote?.(text);
    const proxies = JSON.parse(await readFile(proxiesFile(directory), 'utf8')) as readonly ProxyPlan[];
    const toxiproxy = toxiproxyApi(description.direct.toxiproxyApi);
    const { processes } = await reaper.request({ op: 'list' });
    const servers = new Map<ServerName, ManagedServer>();
    for (const name of SERVER_NAMES) {
      const launch = await loadLaunch(directory, name);
      const onDeath = (lines: readonly string[]): void => {
        if (options.onServerDeath === undefined) onNote(`${name} has died`);
        else options.onServerDeath(name, lines);
      };
      const afterStart = name === 'toxiproxy' ? { afterStart: () => toxiproxy.populate(proxies) } : {};
      const running = processes.find((process) => process.key === name) ?? null;
      servers.set(name, manageServer({ reaper, launch, isReady: readiness(description, launch, toxiproxy), onDeath, ...afterStart }, running));
    }
    return assembleStack({ reaper, description, servers, pidOf: (name) => servers.get(name)?.identity()?.pid ?? null, amongServers: (address) => address, toxiproxy, replicationListen: replicationListen(proxies), isOwner: false, onNote });
  } catch (error) {
    reaper.release();
    throw error;
  }
}

function readiness(description: StackDescription, launch: ServerLaunch, toxiproxy: ToxiproxyApi): ReadinessCheck {
  const { direct } = description;
  switch (launch.name) {
    case 'redis-primary':
      return redisIsReady(direct.redisPrimary);
    case 'redis-replica':
      return redisIsReady(direct.redisReplica);
    case 'postgres':
      return postgresIsReady(() => direct.postgres);
    case 'kafka':
      return kafkaIsReady(launch.logFile);
    case 'toxiproxy':
      return () => toxiproxy.version().then(() => true, () => false);
  }
}

function replicationListen(proxies: readonly ProxyPlan[]): { host: string; port: number } {
  const [host, port] = proxies.find((proxy) => proxy.name === REPLICATION_PROXY)?.listen.split(':') ?? [];
  return { host: host ?? '127.0.0.1', port: Number(port) };
}
