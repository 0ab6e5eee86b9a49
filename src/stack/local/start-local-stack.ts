/**
 * Starts a stack of real servers on this host: Redis primary and replica, PostgreSQL, Kafka, Toxiproxy, side by side.
 *
 * 1. a reaper, which from then on owns everything: folder, ports, processes;
 * 2. the tools, and in the cache the folders to copy from;
 * 3. a plan of ports, configurations and data folders;
 * 4. the servers, each ready before its call resolves; the proxies; the replica in step with its primary;
 * 5. the description.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import type { HostPort } from '../../domain/role-config.js';
import { LabError } from '../../facts/lab-error.js';
import type { ServerName } from '../../facts/stack-description.js';
import { temporaryParent, usableCacheFolder } from '../cache-folder.js';
import type { RunningStack, StartOptions } from '../running-stack.js';
import { openWorkshop } from '../workshop.js';
import type { Workshop } from '../workshop.js';
import { describeStack } from './describe-stack.js';
import { planKafka } from './kafka-server.js';
import { assembleStack, proxiesFile } from './local-stack.js';
import { lastLogLines, manageServer } from './managed-server.js';
import type { ManagedServer } from './managed-server.js';
import { planPorts, portsNeeded } from './port-plan.js';
import type { PortPlan } from './port-plan.js';
import { PORTS_PER_BLOCK } from './port-block.js';
import { giveOwnPassword, planPostgres, templateAddress } from './postgres-server.js';
import { prepareTemplates } from './prepare-templates.js';
import type { Templates } from './prepare-templates.js';
import { launchReaper } from './reaper-client.js';
import type { ReaperClient } from './reaper-client.js';
import type { OpenAnswer } from './reaper-protocol.js';
import { planRedis } from './redis-server.js';
import { saveLaunch } from './server-launch.js';
import type { ServerLaunch } from './server-launch.js';
import { askRedis, kafkaIsReady, postgresIsReady, redisIsReady } from './server-readiness.js';
import type { ReadinessCheck } from './server-readiness.js';
import { findTools } from './tools.js';
import type { Tools } from './tools.js';
import { toxiproxyApi } from './toxiproxy-api.js';
import { planProxies, planToxiproxy } from './toxiproxy-server.js';

const MAX_LANES = 10;
const REPLICA_SYNC_LIMIT_MS = 30_000;

/** Rejects with a LabError (MISSING_DEPENDENCY, STACK_START_FAILED, PORT_IN_USE, …) and leaves nothing behind. */
export async function startLocalStack(options: StartOptions): Promise<RunningStack> {
  if (!Number.isInteger(options.lanes) || options.lanes < 1 || options.lanes > MAX_LANES) {
    throw new LabError('USAGE', `lanes must be 1 to ${String(MAX_LANES)}, not ${String(options.lanes)}`, 'give another number of lanes');
  }
  if (isAborted(options)) throw aborted();
  const cache = usableCacheFolder();
  const tools = findTools(cache);
  const id = randomBytes(6).toString('hex');
  const reaper = launchReaper(id);
  const abort = (): void => void endReaper(reaper);
  options.signal?.addEventListener('abort', abort, { once: true });
  try {
    const stack = await startUnderReaper(reaper, id, cache, tools, options);
    options.signal?.throwIfAborted();
    return stack;
  } catch (error) {
    await endReaper(reaper);
    throw isAborted(options) ? aborted(error) : error;
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}

/** A call, because the compiler takes what it once saw of a property for lasting. */
function isAborted(options: StartOptions): boolean {
  return options.signal?.aborted === true;
}

function aborted(cause?: unknown): LabError {
  return new LabError('ABORTED', 'aborted while the stack was starting', 'start it again', { cause });
}

async function endReaper(reaper: ReaperClient): Promise<void> {
  await reaper.request({ op: 'end' }).catch(() => undefined);
  await reaper.waitUntilGone();
  reaper.release();
}

async function startUnderReaper(reaper: ReaperClient, id: string, cache: string, tools: Tools, options: StartOptions): Promise<RunningStack> {
  const startedAt = new Date().toISOString();
  const workshop = openWorkshop(reaper, cache, (text) => {
    options.onNote(text);
  });
  const [opened, templates] = await Promise.all([openStackFolder(reaper, options.lanes), prepareTemplates(workshop, tools)]);
  const { directory } = opened;
  const ports = planPorts(opened.ports, options.lanes);
  const launches = await planServers(workshop, directory, ports, tools, templates);
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
    await untilReplicaFollows(local(ports.redisReplica), launchOf(launches, 'redis-replica'));
  };
  await Promise.all([kafka.start(), startPostgres(), startRedis()]);

  const description = await describeStack({ id, startedAt, directory, reaperPid: reaper.pid, ports, postgres, servers, launches, tools });
  if (options.keepOnExit === true) await reaper.request({ op: 'stay' });
  return assembleStack({ reaper, description, servers, toxiproxy, replicationListen: local(ports.replicationProxy), isOwner: true, onNote: (text) => { options.onNote(text); } });
}

async function openStackFolder(reaper: ReaperClient, lanes: number): Promise<OpenAnswer> {
  const chosen = process.env['SECKILL_LAB_FIRST_PORT'];
  const fixedStart = chosen === undefined || chosen === '' ? null : Number(chosen);
  if (fixedStart !== null && !(Number.isInteger(fixedStart) && fixedStart >= 1_024 && fixedStart + PORTS_PER_BLOCK <= 65_536)) {
    throw new LabError('USAGE', `SECKILL_LAB_FIRST_PORT is no usable port: ${String(chosen)}`, `give the first of ${String(PORTS_PER_BLOCK)} free ports, or unset it`);
  }
  try {
    return await reaper.request({ op: 'open', parentFolder: temporaryParent(), portsNeeded: portsNeeded(lanes), fixedStart, forOtherUsers: process.getuid?.() === 0 });
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof LabError || !cause.message.includes('block of ports')) throw cause;
    const where = fixedStart === null ? 'below the ephemeral range' : `from ${String(fixedStart)} (SECKILL_LAB_FIRST_PORT)`;
    throw new LabError('PORT_IN_USE', `no free block of ports ${where}: other stacks or programs hold them`, 'end what runs there (`npx seckill-lab down`), or choose another SECKILL_LAB_FIRST_PORT', { cause });
  }
}

async function planServers(workshop: Workshop, directory: string, ports: PortPlan, tools: Tools, templates: Templates): Promise<ReadonlyMap<ServerName, ServerLaunch>> {
  const { redisPrimary, redisReplica, replicationProxy } = ports;
  const redis = { program: tools.redisServer, directory };
  const launches = await Promise.all([
    planRedis({ ...redis, name: 'redis-primary', port: redisPrimary, primaryPort: null }),
    planRedis({ ...redis, name: 'redis-replica', port: redisReplica, primaryPort: replicationProxy }),
    planPostgres(workshop, { home: templates.postgresHome, template: templates.postgresTemplate, user: templates.postgresUser, directory, port: ports.postgres }),
    planKafka(workshop.cache, directory, tools, ports),
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

/** A replica that is still copying would turn a failover into a loss that no fault declared. */
async function untilReplicaFollows(replica: HostPort, launch: ServerLaunch): Promise<void> {
  const limit = Date.now() + REPLICA_SYNC_LIMIT_MS;
  while (!(await askRedis(replica, 'INFO replication')).includes('master_link_status:up')) {
    if (Date.now() > limit) throw new LabError('STACK_START_FAILED', 'the Redis replica does not follow its primary', 'npx seckill-lab doctor', { details: lastLogLines(launch.logFile) });
    await delay(20);
  }
}

function local(port: number): HostPort {
  return { host: '127.0.0.1', port };
}
