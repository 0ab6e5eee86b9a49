/** Bad input is answered by a message of one or two lines with the next step and the right exit code, and leaves nothing behind. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { freshFolder, lab, nothingLeftWithin, snapshot, startLab, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

it('names the scenarios there are when it does not know the one asked for', async () => {
  const { code, stderr, stdout } = await lab('run', 'hot-potato');
  expect(code).toBe(254);
  expect(stderr).toMatch(/no scenario "hot-potato"; there are hot-sku, /);
  expect(stderr).toMatch(/next: /);
  expect(stdout).toBe('');
});

it('reports every problem of the options at once', async () => {
  const { code, stderr } = await lab('run', 'hot-potato', '--rate', '-1', '--stock', 'x', '--duration', '0', '--fault', 'nonsense@t=1', '--mutant', 'nobody');
  expect(code).toBe(254);
  for (const part of ['hot-potato', '--rate -1', '--stock x', '--duration 0', 'nonsense', 'nobody']) expect(stderr).toContain(part);
});

it('reports every problem of a plan file at once', async () => {
  const plan = join(freshFolder('plan'), 'plan.yaml');
  writeFileSync(plan, 'schemaVersion: 1\nscenario: hot-potato\noptions: { rate: 0 }\nfaults: [nonsense, pg-outage@t=1s, slow-consumer@t=2s]\n');
  const { code, stderr } = await lab('run', '--plan', plan);
  expect(code).toBe(254);
  for (const part of ['hot-potato', 'options.rate 0', 'nonsense', 'pg-outage@t=1s and slow-consumer@t=2s cannot run together']) expect(stderr).toContain(part);
});

it('refuses faults that cannot run together, those of the scenario among them', async () => {
  const { code, stderr } = await lab('run', 'pg-outage', '--fault', 'link-toxic@link=consumer-postgres,type=timeout,t=5s', '--clock-skew', 'nobody=+1s');
  expect(code).toBe(254);
  for (const part of ['cannot run together', 'both need link consumer-postgres', 'is a role or a process of one']) expect(stderr).toContain(part);
});

it.each([['--no-such-flag'], ['frobnicate'], []])('answers bad usage of the command line itself with 254: %s', async (...args: string[]) => {
  expect((await lab(...args)).code).toBe(254);
});

it('prints its help and version with exit code 0', async () => {
  expect((await lab('--help')).code).toBe(0);
  expect((await lab('--version')).stdout).toMatch(/^\d+\.\d+\.\d+/);
});

it('refuses a report folder that cannot be made', async () => {
  const folder = freshFolder('reports');
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const { code, stderr } = await lab('run', 'hot-sku', '--report-dir', join(file, 'inside'));
  expect(code).toBe(254);
  expect(stderr).toContain(join(file, 'inside'));
  expect(stderr).toMatch(/next: /);
});

it.each([['check'], ['explain']])('refuses to %s a folder that holds no run', async (verb) => {
  const { code, stderr } = await lab(verb, freshFolder('empty'), ...(verb === 'explain' ? ['some-id'] : []));
  expect(code).toBe(254);
  expect(stderr).toMatch(/next: /);
});

it.each([['--corrupt', '0'], ['--corrupt', 'often'], ['--corrupt', '1', '--seed', '-3']])('refuses to corrupt facts as %s %s', async (...args: string[]) => {
  const { code, stderr } = await lab('check', freshFolder('empty'), ...args);
  expect(code).toBe(254);
  expect(stderr).toContain('must be a whole number');
});

it('says that a stack file is missing or describes nothing', async () => {
  const folder = freshFolder('stack');
  const missing = await lab('run', 'hot-sku', '--report-dir', folder, '--stack-file', join(folder, 'none.json'));
  expect(missing.code).toBe(2);
  expect(missing.stderr).toMatch(/next: /);
  writeFileSync(join(folder, 'broken.json'), '{"schemaVersion":');
  const broken = await lab('run', 'hot-sku', '--report-dir', folder, '--stack-file', join(folder, 'broken.json'));
  expect(broken.code).toBe(2);
});

it('says which port is taken when it was told which ports to use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(26_000, '127.0.0.1', resolve));
  try {
    const finished = await startLab(['run', 'hot-sku', '--report-dir', freshFolder('port')], { env: { SECKILL_LAB_FIRST_PORT: '26000' } }).done;
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain('26000');
    expect(finished.stderr).toMatch(/next: /);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

it('says that Java is missing and how to get it', async () => {
  // A PATH with node alone: no java, no redis-server.
  const tools = freshFolder('path');
  mkdirSync(join(tools, 'bin'));
  writeFileSync(join(tools, 'bin', 'java'), '#!/bin/sh\nexit 1\n');
  chmodSync(join(tools, 'bin', 'java'), 0o755);
  const env = { PATH: join(tools, 'bin'), JAVA_HOME: '' };
  const run = await startLab(['run', 'hot-sku', '--report-dir', freshFolder('java')], { env }).done;
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/[Jj]ava/);
  expect(run.stderr).toMatch(/install --with-deps/);
  const doctor = await startLab(['doctor'], { env }).done;
  expect(doctor.code).toBe(2);
  expect(doctor.stdout + doctor.stderr).toMatch(/missing\s+java/);
});
