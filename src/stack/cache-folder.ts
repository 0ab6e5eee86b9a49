/** The folder that outlives runs: downloads, PostgreSQL's binaries, freshly initialised data folders to copy from. */
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { LabError } from '../facts/lab-error.js';

export const KAFKA_VERSION = '4.4.0';
export const TOXIPROXY_VERSION = '2.12.0';

/** SECKILL_LAB_CACHE, else /var/cache for root (whose home PostgreSQL's user cannot enter), else XDG_CACHE_HOME or ~/.cache. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const chosen = env['SECKILL_LAB_CACHE'];
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  if (process.getuid?.() === 0) return '/var/cache/seckill-lab';
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'seckill-lab');
}

/** Makes it if need be. LabError INSTALL_FAILED when it cannot be used, with the reason. */
export function usableCacheFolder(): string {
  const folder = cacheFolder();
  const problem = cacheProblem(folder);
  if (problem !== null) throw new LabError('INSTALL_FAILED', problem, 'set SECKILL_LAB_CACHE to a folder that can be written');
  return folder;
}

/** Why this folder cannot be the cache; null when it can. Makes it when it is missing. */
export function cacheProblem(folder: string): string | null {
  try {
    const made = mkdirSync(folder, { recursive: true });
    // Made under a strict umask it would keep PostgreSQL's user out.
    if (made !== undefined) chmodSync(folder, 0o755);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    return `the cache folder ${folder} cannot be written (${error instanceof Error ? error.message : String(error)})`;
  }
  if (process.getuid?.() === 0 && !othersMayPass(folder)) return `the cache folder ${folder} cannot be entered by the user that PostgreSQL runs as`;
  return null;
}

/** Where the stack's own folder goes: the system's temporary folder, or, for root, the first that other users can enter too. */
export function temporaryParent(): string {
  if (process.getuid?.() !== 0) return tmpdir();
  return [tmpdir(), '/tmp', '/var/tmp'].find((folder) => othersMayPass(folder)) ?? tmpdir();
}

/** True when every folder down to this one has its search bit set for others. */
export function othersMayPass(folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    try {
      if ((statSync(current).mode & 0o001) === 0) return false;
    } catch {
      return false;
    }
    if (current === dirname(current)) return true;
  }
}
