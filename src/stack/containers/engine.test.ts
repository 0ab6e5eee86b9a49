// Which engine it is, and what it may be used for, against a stub of one.
import type * as FileSystem from 'node:fs';

import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

import { reachEngine } from './engine.js';
import { startStubEngine, type StubEngine } from './stub-engine.test-support.js';

// Wherever this test runs, it is no container.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof FileSystem>();
  return { ...real, existsSync: (path: string) => path !== '/.dockerenv' && real.existsSync(path) };
});

let engine: StubEngine;
beforeAll(async () => {
  engine = await startStubEngine();
});
afterEach(() => {
  process.env['DOCKER_HOST'] = engine.dockerHost;
  engine.info = {};
});
afterAll(() => { engine.close(); });

it('an address without a scheme is one clear error, though another engine would answer', async () => {
  process.env['DOCKER_HOST'] = '/run/user/1000/docker.sock';
  await expect(reachEngine()).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('DOCKER_HOST is /run/user/1000/docker.sock, which is no address') as string });
});

it('another engine than the one of DOCKER_HOST is not taken', async () => {
  await reachEngine();
  process.env['DOCKER_HOST'] = 'unix:///nobody.sock';
  await expect(reachEngine()).rejects.toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringContaining('another one answers at') as string });
});

it('knows an engine of this machine, a rootless one and that of a virtual machine', async () => {
  expect(await reachEngine()).toMatchObject({ isThisMachine: true, isRootless: false });
  engine.info = { SecurityOptions: ['name=seccomp,profile=default', 'name=rootless'] };
  expect(await reachEngine()).toMatchObject({ isThisMachine: true, isRootless: true });
  engine.info = { Name: 'docker-desktop', SecurityOptions: null };
  expect(await reachEngine()).toMatchObject({ isThisMachine: false, isRootless: false });
});

it('Ryuk runs only for who asks for it', async () => {
  delete process.env['TESTCONTAINERS_RYUK_DISABLED'];
  await reachEngine();
  expect(process.env['TESTCONTAINERS_RYUK_DISABLED']).toBe('true');
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'false';
  await reachEngine();
  expect(process.env['TESTCONTAINERS_RYUK_DISABLED']).toBe('false');
});
