// Starts one local stack for all integration tests of a run and hands its description to them: `inject('stack')`.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

import type { StackDescription } from '../../src/facts/stack-description.js';
import { withCacheLock } from '../../src/stack/cache-lock.js';
import { startLocalStack } from '../../src/stack/local/start-local-stack.js';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackDescription;
  }
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildWhenStale();
  const stack = await startLocalStack({ lanes: 2, onNote: (text) => { console.error(`stack: ${text}`); } });
  project.provide('stack', stack.description);
  return () => stack.stop();
}

/** The reaper runs compiled. `npm test` builds first; a single `vitest run` would otherwise meet an old one or none. */
async function buildWhenStale(): Promise<void> {
  await withCacheLock(join(root, 'dist'), () => undefined, () => {
    const sources = newest(join(root, 'src', 'stack', 'local'), '.ts');
    if (newest(join(root, 'dist', 'stack', 'local'), 'reaper-main.js') >= sources) return Promise.resolve();
    spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { stdio: 'ignore' });
    return Promise.resolve();
  });
}

function newest(folder: string, suffix: string): number {
  try {
    return Math.max(0, ...readdirSync(folder).filter((name) => name.endsWith(suffix)).map((name) => statSync(join(folder, name)).mtimeMs));
  } catch {
    return 0;
  }
}
