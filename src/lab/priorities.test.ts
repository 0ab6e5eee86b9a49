/** A priority reaches the process, and the group that the kernel has put its session into. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

import { afterEach, expect, test } from 'vitest';

import { setNice } from './priorities.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function sleeper(detached: boolean): number {
  const child = spawn('sleep', ['60'], { detached, stdio: 'ignore' });
  children.push(child);
  return child.pid ?? 0;
}

const group = (pid: number | 'self'): string => readFileSync(`/proc/${String(pid)}/autogroup`, 'utf8').trim();

test('of a process', () => {
  const pid = sleeper(false);
  expect(setNice(pid, 7)).toBe(true);
  expect(getPriority(pid)).toBe(7);
});

test.skipIf(!existsSync('/proc/self/autogroup'))('of a session of its own, and never of the one that the lab itself is in', () => {
  const before = group('self');
  const [alone, shared] = [sleeper(true), sleeper(false)];
  expect(group(shared)).toBe(before);
  setNice(shared, 9);
  expect(group('self')).toBe(before);
  expect(setNice(alone, 9)).toBe(true);
  expect(group(alone)).toMatch(/ nice 9$/);
  expect(group('self')).toBe(before);
});
