/** A priority reaches the process, and the group that the kernel has put its session into. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

import { afterEach, expect, test } from 'vitest';

import { SERVER_NAMES } from '../facts/stack-description.js';
import { giveWay, setNice } from './priorities.js';

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

test('who keeps his priority is named: a server without a process here, and none of those that were moved', () => {
  const pid = sleeper(true);
  const servers = Object.fromEntries(SERVER_NAMES.map((name) => [name, { pid: name === 'postgres' ? pid : null }]));
  const stack = { description: { servers }, isShared: false } as unknown as Parameters<typeof giveWay>[1];
  const unmoved = giveWay({ scenario: { priorities: { postgres: 5, kafka: 5, relay: 5 } } as unknown as Parameters<typeof giveWay>[0]['scenario'] }, stack, [{ instance: 'relay-1', pid: () => pid }], { push: () => undefined } as unknown as Parameters<typeof giveWay>[3]);
  expect(unmoved).toEqual(['kafka']);
  expect(getPriority(pid)).toBe(5);
});
