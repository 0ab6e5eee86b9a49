/**
 * Starts a stack of real servers on this host: Redis primary and replica, PostgreSQL, Kafka, Toxiproxy, side by side.
 *
 * 1. a reaper, which from then on owns everything: folder, ports, processes;
 * 2. the tools, and in the cache the folders to copy from;
 * 3. a plan of ports, configurations and data folders;
 * 4. the servers, each ready before its call resolves; the proxies; the replica in step with its primary;
 * 5. the description.
 */
import { writeFile } from 'node:fs/promises';

import type { HostPort } from '../../domain/role-config.js';
import type { ServerName } from '../../facts/stack-description.js';
import { usableCacheFolder } from '../cache-folder.js';
import type { RunningStack, StartOptions } from '../running-stack.js';
import { openWorkshop } from '../workshop.js';
import type { Workshop } from '../workshop.js';
import { describeStack } from './describe-stack.js';
import { planKafka } from './kafka-server.js';
import { assembleStack, proxiesFile } from './local-stack.js';
import { lastLogLines, manageServer } from './managed-server.js';
import type { ManagedServer } from './managed-server.js';
import { planPorts } from './port-plan.js';
import type { PortPlan } from './port-plan.js';
import { giveOwnPassword, planPostgres, templateAddress } from './postgres-server.js';
import { prepareTemplates } from './prepare-templates.js';
import type { Templates } from './prepare-templates.js';
import type { ReaperClient } from './reaper-client.js';
import { planRedis } from './redis-server.js';
import { saveLaunch } from './server-launch.js';
import type { ServerLaunch } from './server-launch.js';
import { kafkaIsReady, postgresIsReady, redisIsReady, untilReplicaFollows } from './server-readiness.js';
import type { ReadinessCheck } from './server-readiness.js';
import { openStackFolder, refuseLanes, startUnderReaper } from './start-under-reaper.js';
import { findTools } from './tools.js';
import type { Tools } from './tools.js';
import { toxiproxyApi } from './toxiproxy-api.js';
import { planProxies, planToxiproxy } from './toxiproxy-server.js';

/** Rejects with a LabError (MISSING_DEPENDENCY, STACK_START_FAILED, PORT_IN_USE, …) and leaves nothing behind. */
export async function startLocalStack(options: StartOptions): Promise<RunningStack> {
  refuseLanes(options.lanes);
  const cache = usableCacheFolder();
  const tools = findTools(cache);
  return startUnderReaper(options, (reaper, id) => startServers(reaper, id, cache, tools, options));
}

async function startServers(reaper: ReaperClient, id: string, cache: string, tools: Tools, options: StartOptions): Promise<RunningStack> {
  const startedAt = new Date().toISOString();
  const workshop = openWorkshop(reaper, cache, (text) => {
    options.onNote(text);
  });
  const [opened, templates] = await Promise.all([openStackFolder(reaper, options.lanes), prepareTemplates(workshop, tools)]);
  const { directory } = opened;
  const ports = planPorts(opened.ports, options.lanes);
  const launches = await planServers(workshop, directory, ports, tools, templates, options.smallKafkaDisk === true);
  await Promise.all([...launches.values()].map((launch) => saveLaunch(directory, launch)));
  const proxies = planProxies(ports);
  await writeFile(proxiesFile(directory), JSON.stringify(proxies));

  const toxiproxy = toxiproxyApi(local(ports.toxiproxyApi));
  let postgres = await templateAddress(templates.postgresTemplate, ports.postgres);
  const servers = new Map<ServerName, ManagedServer>();
  const add = (name: ServerName, isReady: ReadinessCheck, afterStart?: () => Promise<void>): ManagedServer => {
    const server = manageServer({ reaper, launch: launchOf(launches, name), isReady, onDeath: deathNotice(options, name), ...(afterStart === undefined ? {} : { afterStart }) }, null);
    servers.set(name, server);
    return server;
  };
  const kafka = add('kafka', kafkaIsReady(launchOf(launches, 'kafka').logFile));
  const postgresServer = add('postgres', postgresIsReady(() => postgres));
  const primary = add('redis-primary', redisIsReady(local(ports.redisPrimary)));
  const replica = add('redis-replica', redisIsReady(local(ports.redisReplica)));
  const proxyServer = add('toxiproxy', () => toxiproxy.version().then(() => true, () => false), () => toxiproxy.populate(proxies));

  const startPostgres = async (): Promise<void> => {
    await postgresServer.start();
    postgres = await giveOwnPassword(postgres);
  };
  const startRedis = async (): Promise<void> => {
    await Promise.all([primary.start(), proxyServer.start()]);
    await replica.start();
    await untilReplicaFollows(local(ports.redisReplica), () => Promise.resolve(lastLogLines(launchOf(launches, 'redis-replica').logFile)));
  };
  await Promise.all([kafka.start(), startPostgres(), startRedis()]);

  const description = await describeStack({
    provider: 'local', id, startedAt, directory, reaperPid: reaper.pid, ports, postgres, toxiproxyVersion: tools.toxiproxy.version ?? 'unknown',
    detailsOf: (name) => ({ pid: servers.get(name)?.identity()?.pid ?? null, directory: launchOf(launches, name).workingFolder, logFile: launchOf(launches, name).logFile }),
  });
  if (options.keepOnExit === true) await reaper.request({ op: 'stay' });
  return assembleStack({ reaper, description, servers, pidOf: (name) => servers.get(name)?.identity()?.pid ?? null, amongServers: (address) => address, toxiproxy, replicationListen: local(ports.replicationProxy), isOwner: true, onNote: (text) => { options.onNote(text); } });
}

async function planServers(workshop: Workshop, directory: string, ports: PortPlan, tools: Tools, templates: Templates, smallKafkaDisk: boolean): Promise<ReadonlyMap<ServerName, ServerLaunch>> {
  const { redisPrimary, redisReplica, replicationProxy } = ports;
  const redis = { program: tools.redisServer, directory };
  const launches = await Promise.all([
    planRedis({ ...redis, name: 'redis-primary', port: redisPrimary, primaryPort: null }),
    planRedis({ ...redis, name: 'redis-replica', port: redisReplica, primaryPort: replicationProxy }),
    planPostgres(workshop, { home: templates.postgresHome, template: templates.postgresTemplate, user: templates.postgresUser, directory, port: ports.postgres }),
    planKafka(workshop, directory, tools, ports, smallKafkaDisk),
    planToxiproxy(tools.toxiproxy.path, directory, ports.toxiproxyApi),
  ]);
  return new Map(launches.map((launch) => [launch.name, launch]));
}

function launchOf(launches: ReadonlyMap<ServerName, ServerLaunch>, name: ServerName): ServerLaunch {
  const launch = launches.get(name);
  if (launch === undefined) throw new Error(`no launch of ${name}`);
  return launch;
}

function deathNotice(options: StartOptions, name: ServerName): (lines: readonly string[]) => void {
  return (lines) => {
    if (options.onServerDeath === undefined) options.onNote(`${name} has died`);
    else options.onServerDeath(name, lines);
  };
}

function local(port: number): HostPort {
  return { host: '127.0.0.1', port };
}
