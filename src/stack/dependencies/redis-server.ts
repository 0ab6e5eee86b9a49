/**
 * redis-server 7 or later.
 *
 * Debian's package `redis-server` starts a service on the default port and enables it for every boot, neither of which a laboratory may
 * do to a machine. The server's binary itself lies in `redis-tools` under another name: it is one program that acts by the name it is
 * called by, and `redis-server` is a symbolic link. So the lab takes `redis-tools` and keeps that link in its own cache. A redis-server
 * that is on PATH already is used as it is, and its service is left alone.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import type { Workshop } from '../workshop.js';
import { found, missing } from './dependency.js';
import type { Dependency } from './dependency.js';
import { findOnPath, isExecutable } from './search-path.js';

const MINIMAL_REDIS = 7;
const MULTI_NAME_BINARY = 'redis-check-rdb';

function linkFolder(cache: string): string {
  return join(cache, 'redis');
}

/** On PATH, else the link in the cache; null when there is neither. */
export function findRedisServer(cache: string): string | null {
  const link = join(linkFolder(cache), 'redis-server');
  return findOnPath('redis-server') ?? (isExecutable(link) ? link : null);
}

/** `7.0.15`; null when the program does not say. */
export function redisVersion(program: string): string | null {
  try {
    return /v=(\d+\.\d+\.\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[1] ?? null;
  } catch {
    return null;
  }
}

export const redisServer: Dependency = {
  name: 'redis-server',
  look: (cache) => {
    const program = findRedisServer(cache);
    if (program === null) return missing('redis-server is not on PATH');
    const version = redisVersion(program);
    if (version === null) return missing(`${program} does not run`, `mend or remove ${program}`);
    if (Number(version.split('.')[0]) < MINIMAL_REDIS) return missing(`${program} is version ${version}, too old`, `put a redis-server ${String(MINIMAL_REDIS)} or later first on PATH`);
    return found(`redis-server ${version} (${program})`);
  },
  lackingPackages: (cache) => (findRedisServer(cache) === null && findOnPath(MULTI_NAME_BINARY) === null ? ['redis-tools'] : []),
  fetch: linkMultiNameBinary,
};

async function linkMultiNameBinary(workshop: Workshop): Promise<void> {
  const binary = findOnPath(MULTI_NAME_BINARY);
  if (findRedisServer(workshop.cache) !== null || binary === null) return;
  const folder = linkFolder(workshop.cache);
  workshop.note(`linking ${folder}/redis-server to ${binary}`);
  const made = join(await workshop.scratch(), 'redis');
  await mkdir(made);
  await symlink(binary, join(made, 'redis-server'));
  if (redisVersion(join(made, 'redis-server')) === null) throw new LabError('INSTALL_FAILED', `${binary} is no redis-server`, 'install redis-server 7 or later by hand');
  // A dangling link of an uninstalled package may lie there.
  if (existsSync(folder)) await workshop.run('rm', ['-rf', folder]);
  await workshop.publish(made, folder);
}
