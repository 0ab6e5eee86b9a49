// A lab that is killed with SIGKILL, at every stage of its stack's life, leaves no process, no port, no folder and no shared memory.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { StackDescription } from '../../facts/stack-description.js';
import { cacheFolder } from '../cache-folder.js';
import { busyPorts, foldersIn, freeBlockStart, orphanedSharedMemory, processesOf, startLabProcess, until } from './lab-process.test-support.js';
import type { LabProcess } from './lab-process.test-support.js';

/** The reaper has this long after the kill; the sweep itself takes about 0.2 s. */
const REAPER_LIMIT_MS = 15_000;

const START = `
  const stack = await startLocalStack({ lanes: 1, onNote: say });
  say('STARTED ' + JSON.stringify(stack.description));
  setInterval(() => undefined, 1000);
`;

let lab: LabProcess;
let firstPort: number;
let sharedMemoryBefore: readonly number[];

beforeEach(async () => {
  firstPort = await freeBlockStart();
  sharedMemoryBefore = orphanedSharedMemory();
});
afterEach(() => { lab.removeTemporary(); });

function start(body: string, env: Readonly<Record<string, string>> = {}): void {
  lab = startLabProcess(body, { SECKILL_LAB_FIRST_PORT: String(firstPort), ...env });
}

async function killAndLook(): Promise<void> {
  await lab.kill();
  await until(() => processesOf(lab.temporary).length === 0, REAPER_LIMIT_MS);
  expect(foldersIn(lab.temporary)).toEqual([]);
  expect(await busyPorts(firstPort)).toEqual([]);
  expect(orphanedSharedMemory().filter((id) => !sharedMemoryBefore.includes(id))).toEqual([]);
}

/** The journal of the reaper, empty before there is one. */
function journal(): string {
  const [folder] = foldersIn(lab.temporary);
  const file = join(folder ?? '', 'processes.ndjson');
  return folder !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
}

describe('killed while the stack starts', () => {
  const stages: readonly [string, () => boolean][] = [
    ['the reaper runs', () => processesOf(lab.temporary).some((entry) => entry.pid !== lab.child.pid)],
    ['the folder is there', () => foldersIn(lab.temporary).length > 0],
    ['a data folder is being copied', () => journal().includes('command-')],
    ['kafka was started', () => journal().includes('"kafka"')],
    ['postgres was started', () => journal().includes('"postgres"')],
    ['postgres has backends', () => processesOf(lab.temporary).filter((entry) => entry.command === 'postgres').length > 3],
    ['the primary was started', () => journal().includes('"redis-primary"')],
    ['toxiproxy was started', () => journal().includes('"toxiproxy"')],
    ['the replica was started', () => journal().includes('"redis-replica"')],
  ];
  it.each(stages)('when %s', async (_, reached) => {
    start(START);
    await until(reached);
    await killAndLook();
  });

  it('when it makes the folders to copy from: the cache keeps no half of one', async () => {
    const cache = mkdtempSync('/tmp/seckill-test-cache-');
    for (const name of readdirSync(cacheFolder())) if (/^(kafka-[\d.]+|toxiproxy-[\d.]+|redis)$/.test(name)) symlinkSync(join(cacheFolder(), name), join(cache, name));
    chmodSync(cache, 0o755);
    start(START, { SECKILL_LAB_CACHE: cache });
    await until(() => processesOf(lab.temporary).some((entry) => entry.command === 'initdb' || entry.command === 'java'));
    await killAndLook();
    await until(() => processesOf(cache).length === 0, REAPER_LIMIT_MS);
    expect(readdirSync(cache).filter((name) => name.startsWith('making-'))).toEqual([]);
    rmSync(cache, { recursive: true });
  });
});

it('killed when the stack runs', async () => {
  start(START);
  await lab.waitFor('STARTED');
  expect(processesOf(lab.temporary).length).toBeGreaterThan(8);
  await killAndLook();
});

it('killed with frozen servers', async () => {
  start(`const stack = await startLocalStack({ lanes: 1, onNote: say });
    for (const name of ['postgres', 'kafka', 'redis-primary', 'toxiproxy']) await stack.server(name).freeze();
    say('FROZEN');
    setInterval(() => undefined, 1000);`);
  await lab.waitFor('FROZEN');
  await killAndLook();
});

it('killed after a server was killed and started again', async () => {
  start(`const stack = await startLocalStack({ lanes: 1, onNote: say });
    await stack.server('postgres').kill();
    await stack.server('postgres').start();
    await stack.server('redis-primary').kill();
    say('KILLED');
    setInterval(() => undefined, 1000);`);
  await lab.waitFor('KILLED');
  await killAndLook();
});

it('killed after somebody killed the postmaster, whose shared memory then nobody removed', async () => {
  start(START);
  await lab.waitFor('STARTED');
  const { servers } = JSON.parse(lab.printed().split('STARTED ')[1] ?? '') as StackDescription;
  process.kill(Number(servers.postgres.pid), 'SIGKILL');
  await until(() => orphanedSharedMemory().some((id) => !sharedMemoryBefore.includes(id)));
  await killAndLook();
});

it('killed with roles running, one of them stopped', async () => {
  start(`const stack = await startLocalStack({ lanes: 1, onNote: say });
    const roles = [await stack.spawn('sleep', ['1000']), await stack.spawn('sh', ['-c', 'sleep 1000 & wait'])];
    roles[0].kill('SIGSTOP');
    say('ROLES');
    setInterval(() => undefined, 1000);`);
  await lab.waitFor('ROLES');
  expect(processesOf(lab.temporary).filter((entry) => entry.command === 'sleep').length).toBeGreaterThan(0);
  await killAndLook();
});

it('killed while the stack stops', async () => {
  start(`const stack = await startLocalStack({ lanes: 1, onNote: say });
    const stopped = stack.stop();
    say('STOPPING');
    await stopped;
    say('STOPPED');`);
  await lab.waitFor('STOPPING');
  await killAndLook();
});

it('ended by an uncaught exception', async () => {
  start(`await startLocalStack({ lanes: 1, onNote: say }); throw new Error('bug');`);
  await lab.waitFor('bug');
  await killAndLook();
});

it('survives the end of its lab when it was told to stay, and ends with the next', async () => {
  start(`const stack = await startLocalStack({ lanes: 1, onNote: say, keepOnExit: true });
    const { default: fs } = await import('node:fs');
    fs.writeFileSync(process.env.TMPDIR + '/description', JSON.stringify(stack.description));
    say('STARTED'); setInterval(() => undefined, 1000);`);
  await lab.waitFor('STARTED');
  const file = join(lab.temporary, 'description');
  const description = readFileSync(file, 'utf8');
  rmSync(file);
  await lab.kill();
  const running = (): number => processesOf(lab.temporary).length;
  expect(running()).toBeGreaterThan(8);
  const first = lab;
  // A later lab is killed with its role; the stack stays.
  lab = startLabProcess(`const stack = await openStack(${description}); await stack.spawn('sleep', ['1000']); say('ROLE'); setInterval(() => undefined, 1000);`);
  await lab.waitFor('ROLE');
  await lab.kill();
  await until(() => processesOf(lab.temporary).length === 0, REAPER_LIMIT_MS);
  lab.removeTemporary();
  lab = first;
  expect(running()).toBeGreaterThan(8);
  // The reaper itself is killed: the next lab cannot join, and its journal ends the stack.
  const { reaperPid } = JSON.parse(description) as { reaperPid: number };
  process.kill(reaperPid, 'SIGKILL');
  const { sweepWithoutReaper } = await import('./sweep-without-reaper.js');
  expect(await sweepWithoutReaper(JSON.parse(description) as Parameters<typeof sweepWithoutReaper>[0])).toEqual([]);
  await killAndLook();
});
