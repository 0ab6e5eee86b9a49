/** toxiproxy-server: one on PATH, else the one built into the cache. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { findOnPath, isExecutable } from './search-path.js';

export interface FoundToxiproxy {
  readonly path: string;
  /** Null when only running it would tell. */
  readonly version: string | null;
}

export function toxiproxyFolder(cache: string, version: string): string {
  return join(cache, `toxiproxy-${version}`);
}

/** The newest in the cache counts: it holds 2.12.0, and 2.8.0 where Go was too old for that. */
export function findToxiproxy(cache: string): FoundToxiproxy | null {
  const onPath = findOnPath('toxiproxy-server');
  if (onPath !== null) return { path: onPath, version: null };
  let names: string[];
  try {
    names = readdirSync(cache);
  } catch {
    return null;
  }
  const versions = names.flatMap((name) => /^toxiproxy-(\d+\.\d+\.\d+)$/.exec(name)?.[1] ?? []);
  versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const version = versions.find((candidate) => isExecutable(join(toxiproxyFolder(cache, candidate), 'toxiproxy-server')));
  return version === undefined ? null : { path: join(toxiproxyFolder(cache, version), 'toxiproxy-server'), version };
}
