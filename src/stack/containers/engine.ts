/**
 * The Docker engine: found the way testcontainers finds it (TESTCONTAINERS_HOST, DOCKER_HOST and contexts of ~/.testcontainers.properties, the
 * usual socket, a rootless one), and asked through the very client that testcontainers then uses.
 */
import { statfs } from 'node:fs/promises';

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
}

/** Docker 20.10, the one of Debian 11 and 12. */
const MINIMAL_API = [1, 41] as const;
const START_ENGINE = 'start Docker, or say where it is with DOCKER_HOST; `--stack local` needs no engine';
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];

/** LabError MISSING_DEPENDENCY when none answers, when it is too old, or when it runs on another machine. */
export async function reachEngine(): Promise<Engine> {
  const client = await connect();
  const { docker, address, host } = { docker: client.container.dockerode, address: addressOf(client.container.dockerode), host: client.info.containerRuntime.host };
  refuseAnotherThanAsked(address);
  const [version, info] = (await Promise.all([docker.version(), docker.info()])) as [{ Version?: string; ApiVersion?: string }, { DockerRootDir?: string }];
  const api = version.ApiVersion ?? '0.0';
  if (!isRecent(api)) {
    throw new LabError('MISSING_DEPENDENCY', `the Docker engine ${version.Version ?? ''} at ${address} speaks API ${api}; ${MINIMAL_API.join('.')} (Docker 20.10) or later is needed`, 'upgrade it, or use `--stack local`');
  }
  // Every port is published on the engine's own loopback, where only its machine reaches it.
  if (!LOCAL_HOSTS.includes(host)) {
    throw new LabError('MISSING_DEPENDENCY', `the Docker engine runs on ${host}; the lab reaches its servers on 127.0.0.1`, 'use an engine on this machine, or `--stack local`');
  }
  return { docker, version: version.Version ?? 'unknown', address, dataFolder: info.DockerRootDir ?? '', indexServer: client.info.containerRuntime.indexServerAddress };
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

function addressOf(docker: Docker): string {
  const modem = docker.modem as { socketPath?: string; host?: string; port?: number | string };
  return modem.socketPath ?? `${modem.host ?? '?'}:${String(modem.port ?? '?')}`;
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
