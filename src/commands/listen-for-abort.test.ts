// The first Ctrl-C aborts, also beside a package that ends the process when nobody else listens; the second ends it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = `
import { listenForAbort } from ${JSON.stringify(pathToFileURL(join(ROOT, 'dist/commands/listen-for-abort.js')).href)};
const abort = new AbortController();
listenForAbort(abort);
await import('testcontainers');
abort.signal.addEventListener('abort', () => console.log(abort.signal.reason.code));
setInterval(() => undefined, 1_000);
console.log('listening');
`;

it.each(['SIGINT', 'SIGTERM'] as const)('%s', async (signal) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for (const word of ['listening', 'ABORTED']) {
    expect(String((await once(child.stdout, 'data'))[0]).trim()).toBe(word);
    child.kill(signal);
  }
  expect(await exited).toEqual([null, signal]);
});
