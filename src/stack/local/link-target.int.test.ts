// Toxics, counters and switches of a real proxy, seen by a plain Redis client on the other side.
import { createConnection } from 'node:net';

import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';

import { LabError } from '../../facts/lab-error.js';
import type { LinkCounters, LinkTarget } from '../../facts/targets.js';
import type { RunningStack } from '../running-stack.js';
import { openStack } from '../open-stack.js';
import { askRedis } from './server-readiness.js';

const description = inject('stack');
let stack: RunningStack;
let link: LinkTarget;

beforeAll(async () => {
  stack = await openStack(description);
  link = stack.link(1, 'gateway-redis');
});
afterAll(() => stack.release());
afterEach(async () => {
  for (const name of await link.listToxics()) await link.removeToxic(name);
  await link.setEnabled(true);
  await link.setUpstream(description.direct.redisPrimary);
});

/** `answer`, or what happened instead. */
function ping(): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(link.listen);
    socket.once('error', (error: NodeJS.ErrnoException) => { resolve(error.code ?? error.message); });
    socket.once('close', () => { resolve('closed'); });
    socket.setTimeout(400, () => { resolve('silence'); socket.destroy(); });
    socket.once('data', (data) => { resolve(data.toString().trim()); socket.destroy(); });
    socket.once('connect', () => socket.write('PING\r\n'));
  });
}

/** Bytes since then: from the client, on to the server, from the server, on to the client. */
async function movedSince(before: LinkCounters): Promise<number[]> {
  const now = await link.counters();
  return [
    now.upstreamReceivedBytes - before.upstreamReceivedBytes,
    now.upstreamSentBytes - before.upstreamSentBytes,
    now.downstreamReceivedBytes - before.downstreamReceivedBytes,
    now.downstreamSentBytes - before.downstreamSentBytes,
  ];
}

it('passes traffic and counts its bytes in both directions', async () => {
  const before = await link.counters();
  expect(await ping()).toBe('+PONG');
  // PING\r\n is 6 bytes, +PONG\r\n is 7.
  await expect.poll(() => movedSince(before)).toEqual([6, 6, 7, 7]);
});

it('counts a connection only when it ends', async () => {
  const before = await link.counters();
  const socket = createConnection(link.listen, () => socket.write('PING\r\n'));
  await new Promise((resolve) => socket.once('data', resolve));
  expect(await movedSince(before)).toEqual([0, 0, 0, 0]);
  socket.destroy();
  await expect.poll(() => movedSince(before)).toEqual([6, 6, 7, 7]);
});

it('does not count what passes on the same link of another lane', async () => {
  const before = await link.counters();
  const other = await stack.link(0, 'gateway-redis').counters();
  expect(await ping()).toBe('+PONG');
  await expect.poll(() => movedSince(before)).toEqual([6, 6, 7, 7]);
  expect(await stack.link(0, 'gateway-redis').counters()).toEqual(other);
});

it('drops answers under a downstream timeout, and the counters show the answer that never left', async () => {
  const before = await link.counters();
  await link.addToxic({ name: 'lost', type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } });
  expect(await link.listToxics()).toEqual(['lost']);
  expect(await ping()).toBe('silence');
  await expect.poll(() => movedSince(before)).toEqual([6, 6, 7, 0]);
  await link.removeToxic('lost');
  expect(await link.listToxics()).toEqual([]);
  expect(await ping()).toBe('+PONG');
});

it('removes a toxic that is not there without complaint, and refuses the same name twice', async () => {
  await link.removeToxic('never-added');
  const toxic = { name: 'slow', type: 'latency', stream: 'upstream', attributes: { latency: 1, jitter: 0 } } as const;
  await link.addToxic(toxic);
  await expect(link.addToxic(toxic)).rejects.toThrow(LabError);
});

it('holds data back under bandwidth 0 and delivers it when the toxic is removed', async () => {
  await link.addToxic({ name: 'frozen', type: 'bandwidth', stream: 'downstream', attributes: { rate: 0 } });
  const answer = new Promise<string>((resolve) => {
    const socket = createConnection(link.listen, () => socket.write('PING\r\n'));
    socket.once('data', (data) => { resolve(data.toString()); socket.destroy(); });
  });
  expect(await ping()).toBe('silence');
  await link.removeToxic('frozen');
  expect(await answer).toBe('+PONG\r\n');
});

it('refuses connections while it is closed', async () => {
  await link.setEnabled(false);
  expect(await link.isEnabled()).toBe(false);
  expect(await ping()).toBe('ECONNREFUSED');
  await link.setEnabled(true);
  expect(await ping()).toBe('+PONG');
});

it('points at another server', async () => {
  await askRedis(description.direct.redisPrimary, 'CONFIG SET slowlog-max-len 77');
  await link.setUpstream(description.direct.redisReplica);
  expect(await askRedis(link.listen, 'INFO replication')).toContain('role:slave');
  await link.setUpstream(description.direct.redisPrimary);
  expect(await askRedis(link.listen, 'INFO replication')).toContain('role:master');
});

it('freezes replication on the link that the replica follows', async () => {
  const { redisPrimary, redisReplica } = description.direct;
  const replication = stack.link(0, 'replication');
  await askRedis(redisPrimary, 'SET link-target-test before');
  await expect.poll(() => askRedis(redisReplica, 'GET link-target-test')).toContain('before');
  await replication.addToxic({ name: 'freeze', type: 'bandwidth', stream: 'downstream', attributes: { rate: 0 } });
  await askRedis(redisPrimary, 'SET link-target-test after');
  expect(await askRedis(redisReplica, 'GET link-target-test')).toContain('before');
  await replication.removeToxic('freeze');
  await expect.poll(() => askRedis(redisReplica, 'GET link-target-test'), { timeout: 10_000 }).toContain('after');
  await askRedis(redisPrimary, 'DEL link-target-test');
});

it('says what it tried when Toxiproxy is frozen, within six seconds', async () => {
  await stack.server('toxiproxy').freeze();
  try {
    const began = Date.now();
    await expect(link.isEnabled()).rejects.toThrow(/looking at L1-gateway-redis: no answer within 5 s/);
    expect(Date.now() - began).toBeLessThan(6_000);
  } finally {
    await stack.server('toxiproxy').thaw();
  }
});
