// The gate: nothing runs before the reaper has the process in its care.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { gatedSpawn } from './gated-spawn.js';
import { readProcess } from './process-table.js';
import type { ReaperClient } from './reaper-client.js';
import type { ReaperRequest } from './reaper-protocol.js';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'seckill-gate-')); });
afterEach(() => { rmSync(folder, { recursive: true }); });

/** A reaper that takes processes into its care as told. */
function reaper(adopt: (request: ReaperRequest) => Promise<unknown>): ReaperClient {
  return { request: adopt } as unknown as ReaperClient;
}

it('opens after the adoption, with the same pid, in a group of its own, and passes arguments and descriptors', async () => {
  let adopted = 0;
  const client = reaper((request) => {
    if (request.op === 'adopt') adopted = request.pid;
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    return Promise.resolve({});
  });
  const child = await gatedSpawn(client, 'sh', ['-c', 'echo "$$ $1 $FLAG" > ran; read line; echo "$line" >&3', 'sh', 'a b'], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', FLAG: 'set' }, stdio: ['pipe', 'ignore', 'inherit', 'pipe'] });
  expect(readProcess(child.pid!)?.groupId).toBe(child.pid);
  child.stdin!.end('through\n');
  const [data] = (await once(child.stdio[3] as NodeJS.ReadableStream, 'data')) as [Buffer];
  expect(data.toString()).toBe('through\n');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe(`${adopted} a b set\n`);
  expect(adopted).toBe(child.pid);
});

it('keeps the channel of an ipc child', async () => {
  const script = "process.on('message', (text) => { process.send(text + '!'); process.disconnect(); })";
  const child = await gatedSpawn(reaper(() => Promise.resolve({})), process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send('hello');
  expect((await once(child, 'message'))[0]).toBe('hello!');
  await once(child, 'exit');
});

it('never opens when the adoption is refused: the process leaves without having run', async () => {
  let pid = 0;
  const client = reaper((request) => {
    if (request.op === 'adopt') pid = request.pid;
    return Promise.reject(new Error('the stack is ending'));
  });
  await expect(gatedSpawn(client, 'touch', [join(folder, 'ran')])).rejects.toThrow('the stack is ending');
  await expect.poll(() => readProcess(pid)).toBeNull();
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

it('ends with 127 for a command that does not exist', async () => {
  const child = await gatedSpawn(reaper(() => Promise.resolve({})), join(folder, 'no-such-program'), [], { stdio: ['ignore', 'ignore', 'ignore'] });
  expect(await once(child, 'exit')).toEqual([127, null]);
});
