// A role in a container, against a stub of the engine whose "container" is a child process: whom signals reach, and what is left with the engine and the reaper.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, expect, it } from 'vitest';

import type { RoleConfig } from '../../domain/role-config.js';
import type { Docker } from '../../stack/containers/engine.js';
import { readProcess, type ProcessIdentity } from '../../stack/local/process-table.js';
import { RoleContainer, type RoleImage } from './role-container.js';

const ID = 'c0ffee'.padEnd(64, '0');
let folder: string;
let child: ChildProcess;
let orders: { Image?: string; User?: string; HostConfig?: { AutoRemove?: boolean } }[];
let registered: string[];
let inspect: () => Promise<{ State: { Pid: number } }>;
let statusCode: Promise<number>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-role-'));
  writeFileSync(join(folder, 'gateway-1.steps'), '');
  child = spawn('sleep', ['60'], { stdio: 'ignore' });
  statusCode = new Promise((resolve) => child.once('exit', (code, signal) => { resolve(signal === 'SIGKILL' ? 137 : (code ?? 0)); }));
  inspect = () => Promise.resolve({ State: { Pid: child.pid ?? 0 } });
  orders = [];
  registered = [];
});
afterEach(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const isAsked = (): ProcessIdentity => ({ pid: child.pid ?? 0, startTicks: readProcess(child.pid ?? 0)?.startTicks ?? '' });

function role(mainProcess: RoleImage['mainProcess']): RoleContainer {
  const stream = new PassThrough();
  const container = {
    id: ID,
    attach: () => Promise.resolve(stream),
    wait: async () => {
      const StatusCode = await statusCode;
      stream.end();
      return { StatusCode };
    },
    start: () => Promise.resolve(),
    inspect: () => inspect(),
    remove: () => Promise.resolve(),
  };
  const docker = {
    modem: { demuxStream: (both: PassThrough) => both.resume() },
    createContainer: (order: (typeof orders)[number]) => {
      orders.push(order);
      return Promise.resolve(container);
    },
  } as unknown as Docker;
  const image: RoleImage = { docker, image: 'sha256:1234', labels: {}, registerPid: (pid, instance) => void registered.push(`${instance} ${String(pid)}`), ...(mainProcess === undefined ? {} : { mainProcess }) };
  const config = { instance: 'gateway-1' } as unknown as RoleConfig;
  return new RoleContainer(image, { config, logFile: join(folder, 'gateway-1.log'), countsFile: join(folder, 'gateway-1.steps'), onHit: () => undefined });
}

it('never signals a process that is not its container’s, whatever number the engine tells', async () => {
  const stranger = role(undefined);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) stranger.signal(signal);
  const { signal } = await stranger.gone;
  stranger.signal('SIGKILL');
  await delay(50);
  expect({ said: signal?.startsWith('not started: the engine says'), pid: stranger.pid, registered, lives: child.exitCode === null && child.signalCode === null }).toEqual({ said: true, pid: -1, registered: [], lives: true });
});

it('signals its process, also with what was sent before it had one, and never the next one with its number', async () => {
  const body = role(isAsked);
  body.signal('SIGSTOP');
  await expect.poll(() => body.isPaused()).toBe(true);
  body.signal('SIGKILL');
  expect(await body.gone).toMatchObject({ pid: child.pid, signal: 'SIGKILL' });

  const next = spawn('sleep', ['60'], { stdio: 'ignore' });
  statusCode = new Promise((resolve) => next.once('exit', () => { resolve(0); }));
  inspect = () => Promise.resolve({ State: { Pid: next.pid ?? 0 } });
  const reused = role(() => ({ pid: next.pid ?? 0, startTicks: '1' }));
  await expect.poll(() => reused.pid).toBe(next.pid);
  reused.signal('SIGKILL');
  await delay(50);
  expect({ lives: next.signalCode === null, paused: reused.isPaused() }).toEqual({ lives: true, paused: false });
  next.kill('SIGKILL');
  await reused.gone;
});

it('is removed by the engine itself, is under the reaper’s care, and is no superuser', async () => {
  const body = role(isAsked);
  await expect.poll(() => registered).toEqual([`gateway-1 ${String(child.pid)}`]);
  expect(orders).toMatchObject([{ Image: 'sha256:1234', HostConfig: { AutoRemove: true } }]);
  expect(orders[0]?.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  body.signal('SIGKILL');
  await body.gone;
});

it('has ended, and no more, when the engine has removed it before it was looked at', async () => {
  inspect = () => Promise.reject(Object.assign(new Error('no such container'), { statusCode: 404 }));
  const body = role(undefined);
  child.kill('SIGKILL');
  expect(await body.gone).toMatchObject({ pid: -1, signal: 'SIGKILL' });
});
