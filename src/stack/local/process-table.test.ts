// Reading /proc, on processes of this test.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { allProcesses, isAlive, isStopped, readProcess, serverProcesses, signalProcess, workingFolder } from './process-table.js';
import { endProcesses } from './sweep.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function start(script: string): Promise<number> {
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child.pid!;
}

it('knows this process, and no process of an impossible number', () => {
  const me = readProcess(process.pid);
  expect(me?.parentPid).toBe(process.ppid);
  expect(me !== null && isAlive(me)).toBe(true);
  expect(workingFolder(process.pid)).toBe(process.cwd());
  expect(readProcess(2 ** 22 + 1)).toBeNull();
});

it('takes a reused number for another process', () => {
  const stranger = { pid: process.pid, startTicks: '1' };
  expect(isAlive(stranger)).toBe(false);
  expect(signalProcess(stranger, 'SIGKILL')).toBe(false);
  expect(serverProcesses(stranger, null)).toEqual([]);
});

it('sees stopped and running, and a process whose name holds blanks and brackets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'seckill-table-'));
  const program = join(folder, 'x) R 1 (y');
  symlinkSync('/bin/sleep', program);
  const pid = await start(`echo ready; exec '${program}' 100`);
  await expect.poll(() => readProcess(pid)?.command).toBe('x) R 1 (y');
  rmSync(folder, { recursive: true });
  const entry = readProcess(pid)!;
  expect(isStopped(entry)).toBe(false);
  signalProcess(entry, 'SIGSTOP');
  await expect.poll(() => isStopped(entry)).toBe(true);
  signalProcess(entry, 'SIGCONT');
  await expect.poll(() => isStopped(entry)).toBe(false);
});

it('finds the whole group of a server, also after its leader died, and the sweep ends it stopped or not', async () => {
  const pid = await start('sleep 100 & sleep 100 & echo ready; wait');
  const leader = readProcess(pid)!;
  // A child is a copy of the shell until it has become what it runs.
  await expect.poll(() => serverProcesses(leader, null).map((entry) => entry.command).sort()).toEqual(['sh', 'sleep', 'sleep']);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAlive(leader)).toBe(false);
  const orphans = serverProcesses(leader, null);
  expect(orphans.map((entry) => entry.command)).toEqual(['sleep', 'sleep']);
  signalProcess(orphans[0]!, 'SIGSTOP');
  expect(await endProcesses([{ leader, postgresData: null }])).toEqual([]);
  expect(allProcesses().filter((entry) => orphans.some((orphan) => orphan.pid === entry.pid && isAlive(entry)))).toEqual([]);
});
