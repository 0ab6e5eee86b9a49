/**
 * The Docker engine: found the way testcontainers finds it (TESTCONTAINERS_HOST, DOCKER_HOST and contexts of ~/.testcontainers.properties, the
 * usual socket, a rootless one), and asked through the very client that testcontainers then uses.
 */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';

import { getContainerRuntimeClient } from 'testcontainers';
import type { ContainerRuntimeClient } from 'testcontainers';

import { LabError } from '../../facts/lab-error.js';

/** dockerode, as testcontainers made it. */
export type Docker = ContainerRuntimeClient['container']['dockerode'];

export interface Engine {
  readonly docker: Docker;
  readonly version: string;
  /** Socket path or host:port. */
  readonly address: string;
  /** Where it keeps images and data, on its own machine. */
  readonly dataFolder: string;
  /** The registry of images whose name has none, as the engine says. */
  readonly indexServer: string;
  /** Its name for its machine is this machine's: no virtual one. */
  readonly isThisMachine: boolean;
  /** Runs in a user's own spaces of networks and users. */
  readonly isRootless: boolean;
}

interface EngineInfo {
  readonly DockerRootDir?: string;
  readonly Name?: string;
  readonly SecurityOptions?: readonly string[] | null;
}

/** Docker 20.10, the one of Debian 11 and 12. */
const MINIMAL_API = [1, 41] as const;
const START_ENGINE = 'start Docker, or say where it is with DOCKER_HOST; `--stack local` needs no engine';
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];

/** LabError MISSING_DEPENDENCY when none answers, when it is too old, or when it runs on another machine. */
export async function reachEngine(): Promise<Engine> {
  refuseNoAddress();
  spareTheSearchForAHost();
  leaveCleaningToTheReaper();
  const client = await connect();
  const docker = client.container.dockerode;
  const address = addressOf(docker);
  refuseAnotherThanAsked(address);
  const [version, info] = (await Promise.all([docker.version(), docker.info()])) as [{ Version?: string; ApiVersion?: string }, EngineInfo];
  const api = version.ApiVersion ?? '0.0';
  if (!isRecent(api)) {
    throw new LabError('MISSING_DEPENDENCY', `the Docker engine ${version.Version ?? ''} at ${address} speaks API ${api}; ${MINIMAL_API.join('.')} (Docker 20.10) or later is needed`, 'upgrade it, or use `--stack local`');
  }
  refuseElsewhere(client.info.containerRuntime.host, address, info.Name ?? '');
  return { docker, version: version.Version ?? 'unknown', address, dataFolder: info.DockerRootDir ?? '', indexServer: client.info.containerRuntime.indexServerAddress, isThisMachine: info.Name === hostname(), isRootless: (info.SecurityOptions ?? []).includes('name=rootless') };
}

async function connect(): Promise<ContainerRuntimeClient> {
  try {
    return await getContainerRuntimeClient();
  } catch (cause) {
    const asked = process.env['DOCKER_HOST'];
    const where = asked === undefined ? 'neither DOCKER_HOST nor a usual or rootless socket leads to one' : `DOCKER_HOST is ${asked}`;
    throw new LabError('MISSING_DEPENDENCY', `no Docker engine answers: ${where}`, START_ENGINE, { cause });
  }
}

/**
 * In a container testcontainers asks the engine for a gateway, and if need be starts an image that it pulls for that: seconds, for an address that is
 * of no use here. Many a machine that is none has the file by which it knows containers.
 */
function spareTheSearchForAHost(): void {
  process.env['TESTCONTAINERS_HOST_OVERRIDE'] ??= '127.0.0.1';
}

/**
 * Ryuk, testcontainers' own cleaner, publishes a port on all addresses, behind which is the engine's socket, and lives on for some seconds without a label of
 * ours. The lab's reaper does the same work, so Ryuk runs only where somebody asks for it by this variable.
 */
function leaveCleaningToTheReaper(): void {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
}

/** Every port is published on the engine's own loopback, where only its machine reaches it. */
function refuseElsewhere(host: string, address: string, engineName: string): void {
  const reached = address.startsWith('/') ? host : address.slice(0, address.lastIndexOf(':'));
  const isInContainer = existsSync('/.dockerenv') && engineName !== hostname();
  if (LOCAL_HOSTS.includes(host) && LOCAL_HOSTS.includes(reached) && !isInContainer) return;
  const where = isInContainer ? 'outside of the container in which the lab runs' : `on ${LOCAL_HOSTS.includes(host) ? reached : host}`;
  throw new LabError('MISSING_DEPENDENCY', `the Docker engine runs ${where}; the lab reaches its servers on 127.0.0.1`, 'use an engine on this machine, or `--stack local`');
}

function addressOf(docker: Docker): string {
  const modem = docker.modem as { socketPath?: string; host?: string; port?: number | string };
  return modem.socketPath ?? `${modem.host ?? '?'}:${String(modem.port ?? '?')}`;
}

/** testcontainers swallows what it cannot read and goes on to the usual socket. */
function refuseNoAddress(): void {
  const asked = process.env['DOCKER_HOST'];
  if (asked === undefined || asked === '' || URL.canParse(asked)) return;
  throw new LabError('MISSING_DEPENDENCY', `no Docker engine answers: DOCKER_HOST is ${asked}, which is no address`, 'write it as unix:///path/of/docker.sock or tcp://127.0.0.1:2375, or unset it');
}

/** testcontainers goes on to the usual socket when the engine of DOCKER_HOST does not answer. Containers then start where nobody looks for them. */
function refuseAnotherThanAsked(address: string): void {
  const asked = process.env['DOCKER_HOST'];
  if (asked === undefined || asked === '' || process.env['TESTCONTAINERS_HOST'] !== undefined) return;
  const { hostname, pathname, port } = new URL(asked);
  const wanted = hostname === '' ? pathname : `${hostname}:${port}`;
  if (wanted !== address) throw new LabError('MISSING_DEPENDENCY', `no Docker engine answers: DOCKER_HOST is ${asked} (another one answers at ${address})`, `start that engine, or unset DOCKER_HOST to use the other`);
}

function isRecent(api: string): boolean {
  const [major = 0, minor = 0] = api.split('.').map(Number);
  return major > MINIMAL_API[0] || (major === MINIMAL_API[0] && minor >= MINIMAL_API[1]);
}

/** Free bytes where the engine keeps its data; null when that folder is not on this machine (an engine inside a virtual machine). */
export async function freeBytes(engine: Engine): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(engine.dataFolder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
