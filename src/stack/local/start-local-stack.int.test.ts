// Starts that fail, starts that are aborted, two stacks at once, and what a whole stack costs.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { cacheFolder } from '../cache-folder.js';
import { freeBlockStart, foldersIn, processesOf, until } from './lab-process.test-support.js';
import { tryListen } from './port-block.js';
import { askRedis } from './server-readiness.js';
import { startLocalStack } from './start-local-stack.js';

const environment = { ...process.env };
let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync('/tmp/seckill-test-');
  chmodSync(temporary, 0o755);
  process.env['TMPDIR'] = temporary;
});
afterEach(async () => {
  for (const name of ['PATH', 'TMPDIR', 'SECKILL_LAB_CACHE', 'SECKILL_LAB_FIRST_PORT']) {
    if (environment[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = environment[name];
  }
  await until(() => processesOf(temporary).length === 0);
  expect(foldersIn(temporary)).toEqual([]);
  rmSync(temporary, { recursive: true });
});

/** A cache with everything of the real one but what is named. */
function cacheWithout(left: RegExp): string {
  const cache = mkdtempSync('/tmp/seckill-test-cache-');
  chmodSync(cache, 0o755);
  for (const name of readdirSync(cacheFolder(environment))) if (!left.test(name) && !name.startsWith('making-')) symlinkSync(join(cacheFolder(environment), name), join(cache, name));
  process.env['SECKILL_LAB_CACHE'] = cache;
  return cache;
}

const quiet = { lanes: 1, onNote: () => undefined };

describe('a start that fails leaves nothing and says', () => {
  it('all that is not installed, in one message', async () => {
    const cache = cacheWithout(/^(kafka|toxiproxy|redis)/);
    process.env['PATH'] = '/nonexistent';
    await expect(startLocalStack(quiet)).rejects.toMatchObject({
      code: 'MISSING_DEPENDENCY',
      message: expect.stringMatching(/redis-server, Java 17 or later, the Kafka jars, toxiproxy-server/) as string,
      nextStep: 'npx seckill-lab install --with-deps',
    });
    rmSync(cache, { recursive: true });
  });

  it('the last words of the server that did not start', async () => {
    const cache = cacheWithout(/^toxiproxy/);
    const program = join(temporary, 'toxiproxy-server');
    writeFileSync(program, '#!/bin/sh\necho the disk is made of cheese\nexit 3\n', { mode: 0o755 });
    process.env['PATH'] = `${temporary}:${environment['PATH'] ?? ''}`;
    await expect(startLocalStack(quiet)).rejects.toMatchObject({ code: 'STACK_START_FAILED', message: 'toxiproxy ended while it was starting', details: ['the disk is made of cheese'] });
    rmSync(program);
    rmSync(cache, { recursive: true });
  });

  it('that the chosen block of ports is taken', async () => {
    const start = await freeBlockStart();
    const sentinel = await tryListen(start);
    process.env['SECKILL_LAB_FIRST_PORT'] = String(start);
    await expect(startLocalStack(quiet)).rejects.toMatchObject({ code: 'PORT_IN_USE', message: expect.stringContaining(String(start)) as string });
    sentinel?.close();
  });

  it.each([['0', 1], ['a', 1], ['70000', 1], [undefined, 0], [undefined, 11], [undefined, 1.5]])('that first port %s with %s lanes is a mistake of use', async (firstPort, lanes) => {
    if (firstPort !== undefined) process.env['SECKILL_LAB_FIRST_PORT'] = firstPort;
    await expect(startLocalStack({ ...quiet, lanes })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('that it was aborted', async () => {
    const controller = new AbortController();
    const started = startLocalStack({ ...quiet, signal: controller.signal });
    await until(() => processesOf(temporary).some((entry) => entry.command === 'java'));
    controller.abort();
    await expect(started).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('that it was aborted before it began', async () => {
    await expect(startLocalStack({ ...quiet, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

it('leaves out a port of its block that a stranger holds on all addresses', async () => {
  const start = await freeBlockStart();
  const stranger = createServer();
  await new Promise<void>((resolve) => stranger.listen(start + 2, '0.0.0.0', resolve));
  process.env['SECKILL_LAB_FIRST_PORT'] = String(start);
  const stack = await startLocalStack(quiet);
  const text = JSON.stringify(stack.description);
  expect(text).toContain(`:${String(start + 1)}`);
  expect(text).not.toMatch(new RegExp(`\\b${String(start + 2)}\\b`));
  await stack.stop();
  stranger.close();
});

it('two at once share no port and end apart', async () => {
  const [one, two] = await Promise.all([startLocalStack(quiet), startLocalStack(quiet)]);
  expect(one.description.directory).not.toBe(two.description.directory);
  expect(portsOf(one.description).filter((port) => portsOf(two.description).includes(port))).toEqual([]);
  expect(portsOf(one.description).every((port) => port < 32_768)).toBe(true);
  await one.stop();
  expect(await askRedis(two.description.direct.redisPrimary, 'PING')).toContain('PONG');
  await two.stop();
  await two.stop(); // twice is once
});

function portsOf(description: unknown): number[] {
  return [...JSON.stringify(description).matchAll(/"port":(\d+)/g)].map((match) => Number(match[1]));
}

it('has free ports for the roles of every lane and all processes in less than 2 GiB', async () => {
  const stack = await startLocalStack({ ...quiet, lanes: 2 });
  for (const lane of stack.description.lanes) {
    expect(lane.rolePorts.length).toBeGreaterThanOrEqual(24);
    const server = await tryListen(lane.rolePorts[0]!);
    expect(server).not.toBeNull();
    server?.close();
  }
  const residentMb = processesOf(temporary).reduce((sum, entry) => sum + residentKb(entry.pid) / 1_024, 0);
  console.log(`all processes of the stack: ${residentMb.toFixed(0)} MB resident`);
  expect(residentMb).toBeLessThan(1_200);
  await stack.stop();
});

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
