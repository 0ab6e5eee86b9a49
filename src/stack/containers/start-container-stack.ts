/**
 * Starts the same stack as `local` in containers, by testcontainers.
 *
 * 1. preflight: engine, room, images; what dead labs left is removed;
 * 2. a reaper, which holds ports and folder and, when the lab is gone, removes all that carries the stack's label;
 * 3. a network of the stack's own, and the servers side by side, each ready before the next step needs it;
 * 4. the description.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { HostPort } from '../../domain/role-config.js';
import type { ContainerDescription, ServerName } from '../../facts/stack-description.js';
import { builtEntry } from '../local/built-entry.js';
import { describeStack } from '../local/describe-stack.js';
import { proxiesFile } from '../local/local-stack.js';
import { planPorts } from '../local/port-plan.js';
import type { PortPlan } from '../local/port-plan.js';
import { SUPERUSER } from '../local/postgres-settings.js';
import type { ReaperClient } from '../local/reaper-client.js';
import { untilReplicaFollows } from '../local/server-readiness.js';
import { openStackFolder, refuseLanes, startUnderReaper } from '../local/start-under-reaper.js';
import { toxiproxyApi } from '../local/toxiproxy-api.js';
import { planProxies } from '../local/toxiproxy-server.js';
import type { RunningStack, StartOptions } from '../running-stack.js';
import { assembleContainerStack, PORTS_FILE } from './assemble-container-stack.js';
import { planContainers, proxyPlaces } from './container-plan.js';
import type { ContainerPlan } from './container-plan.js';
import { readinessOf } from './container-readiness.js';
import { createContainer } from './create-container.js';
import { hearDeaths } from './hear-deaths.js';
import type { ImageWishes } from './image-choice.js';
import { networkName, ownerMark, stackLabels } from './labels.js';
import { oneAfterTheOther } from './one-after-the-other.js';
import { preflight } from './preflight.js';
import type { Ready } from './preflight.js';
import { serverContainer } from './server-container.js';
import type { ServerContainer } from './server-container.js';
import { removeStack, sweepDeadStacks } from './sweep-engine.js';

const SERVER_IMAGES = ['redis', 'postgres', 'kafka', 'toxiproxy'] as const;
type ServerImage = (typeof SERVER_IMAGES)[number];

/** Rejects with a LabError (MISSING_DEPENDENCY, STACK_START_FAILED, PORT_IN_USE, …) and leaves nothing behind. */
export async function startContainerStack(options: StartOptions, wishes: ImageWishes = {}): Promise<RunningStack> {
  refuseLanes(options.lanes);
  const note = (text: string): void => {
    options.onNote(text);
  };
  const ready = await preflight(SERVER_IMAGES, wishes, note, options.signal);
  const swept = await sweepDeadStacks(ready.engine.docker);
  if (swept.removed.length > 0) note(`removed what a dead lab had left: ${swept.removed.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`);
  for (const problem of swept.problems) note(`of a dead lab, ${problem}`);
  return startUnderReaper(options, async (reaper, id) => {
    try {
      return await startServers(reaper, id, ready, options);
    } catch (error) {
      // Here and now, so that the reaper has nothing to wait for.
      await removeStack(ready.engine.docker, id, false).catch(() => undefined);
      throw error;
    }
  });
}

async function startServers(reaper: ReaperClient, id: string, { engine, images }: Ready<ServerImage>, options: StartOptions): Promise<RunningStack> {
  const { docker } = engine;
  const startedAt = new Date().toISOString();
  await reaper.request({ op: 'at-end', program: { command: process.execPath, args: [builtEntry('stack/containers/sweep-main.js'), id] } });
  const opened = await openStackFolder(reaper, options.lanes);
  const ports = planPorts(opened.ports, options.lanes);
  const proxies = planProxies(ports, proxyPlaces(ports));
  await Promise.all([writeFile(proxiesFile(opened.directory), JSON.stringify(proxies)), writeFile(join(opened.directory, PORTS_FILE), JSON.stringify(opened.ports))]);

  const postgres = { ...local(ports.postgres), user: SUPERUSER, password: randomBytes(18).toString('base64url') };
  const labels = stackLabels(id, ownerMark(reaper.pid ?? process.pid));
  const network = networkName(id);
  await docker.createNetwork({ Name: network, Labels: { ...labels } });

  const toxiproxy = toxiproxyApi(local(ports.toxiproxyApi));
  const servers = new Map<ServerName, ServerContainer>();
  const containers = new Map<ServerName, ContainerDescription>();
  const deaths = await hearDeaths(docker, id, servers, options);
  const places = { docker, network, labels, images, endsWithSession: options.mayOutliveLab !== true };
  const plans = planContainers(ports, postgres.password);
  const inTurn = oneAfterTheOther();
  const up = async (name: ServerName): Promise<ServerContainer> => {
    const described = await inTurn(async () => {
      options.signal?.throwIfAborted();
      return createContainer(planOf(plans, name), places);
    });
    const afterStart = name === 'toxiproxy' ? { afterStart: () => toxiproxy.populate(proxies) } : {};
    const server = serverContainer({ name, docker, id: described.id, network, isReady: readinessOf(name, ports, postgres, toxiproxy), ...afterStart });
    containers.set(name, described);
    servers.set(name, server);
    await server.untilReady();
    return server;
  };
  try {
    await allOrNone([up('kafka'), up('postgres'), startRedisPair(up, ports, () => toxiproxy.populate(proxies))]);
    const description = await describeStack({
      provider: 'containers', id, startedAt, directory: opened.directory, reaperPid: reaper.pid, ports, postgres, toxiproxyVersion: images.toxiproxy.name.split(':').at(-1) ?? 'unknown',
      detailsOf: (name) => ({ pid: null, directory: null, logFile: null, ...containerOf(containers, name) }),
    });
    if (options.keepOnExit === true) await reaper.request({ op: 'stay' });
    await deaths.begin();
    return assembleContainerStack({ reaper, docker, description, ports, servers, toxiproxy, isOwner: true, stopListening: deaths.stop, onNote: (text) => { options.onNote(text); } });
  } catch (error) {
    deaths.stop();
    throw error;
  }
}

function planOf(plans: readonly ContainerPlan[], name: ServerName): ContainerPlan {
  const plan = plans.find((each) => each.name === name);
  if (plan === undefined) throw new Error(`no plan of ${name}`);
  return plan;
}

function containerOf(containers: ReadonlyMap<ServerName, ContainerDescription>, name: ServerName): { container?: ContainerDescription } {
  const container = containers.get(name);
  return container === undefined ? {} : { container };
}

/** Every one is waited for, also when another has failed: a container that is created after the clean-up would stay. */
async function allOrNone(starts: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(starts);
  const failed = ended.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The replica follows through the proxy between the two, so both have to be there first. */
async function startRedisPair(up: (name: ServerName) => Promise<ServerContainer>, ports: PortPlan, populate: () => Promise<void>): Promise<void> {
  await Promise.all([up('redis-primary'), up('toxiproxy').then(populate)]);
  const replica = await up('redis-replica');
  await untilReplicaFollows(local(ports.redisReplica), () => replica.lastWords());
}

function local(port: number): HostPort {
  return { host: '127.0.0.1', port };
}
