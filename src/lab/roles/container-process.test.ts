// A number that an engine tells is a process of this host only if the kernel says so.
import { spawn, type ChildProcess } from 'node:child_process';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { readProcess } from '../../stack/local/process-table.js';
import { mainProcessOf } from './container-process.js';

const ID = 'c0ffee'.padEnd(64, '0');
let child: ChildProcess;
let pid: number;
beforeEach(() => {
  child = spawn('sleep', ['60'], { stdio: 'ignore' });
  pid = child.pid ?? -1;
});
afterEach(() => { child.kill('SIGKILL'); });

it('is the one whose control group has the name of the container, with its start time', () => {
  expect(mainProcessOf(ID, pid, () => `0::/system.slice/docker-${ID}.scope\n`)).toEqual({ pid, startTicks: readProcess(pid)?.startTicks });
});

it.each([['another container', '4:memory:/docker/beef'], ['no container', '0::/user.slice'], ['a kernel that does not say', '']])('is refused when the number belongs to %s', (_, cgroup) => {
  expect(() => mainProcessOf(ID, pid, () => cgroup)).toThrow(expect.objectContaining({ code: 'ROLE_START_FAILED' }) as Error);
});

it('asks the kernel itself, which knows of no such container', () => {
  expect(() => mainProcessOf(ID, pid)).toThrow(/another one on this machine/);
});

it('is nobody once it has ended', () => {
  expect(mainProcessOf(ID, 0)).toBeNull();
  expect(mainProcessOf(ID, 2 ** 22 + 7)).toBeNull();
});
