/** The servers of a stack in containers in the hands of a fault: dead, frozen, cut off from their network, and back. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { LinkName, StoreName } from '../../src/domain/roles.js';
import { openLinkProbe } from '../../src/lab/link-probe.js';
import { startContainerStack } from '../../src/stack/containers/start-container-stack.js';
import type { RunningStack } from '../../src/stack/running-stack.js';
import { leftOnEngine } from './engine.js';

const STORES: readonly [StoreName, 'redis-primary' | 'postgres' | 'kafka', LinkName][] = [
  ['redis', 'redis-primary', 'gateway-redis'],
  ['postgres', 'postgres', 'consumer-postgres'],
  ['kafka', 'kafka', 'gateway-kafka'],
];
let stack: RunningStack;
const deaths: string[] = [];
beforeAll(async () => {
  stack = await startContainerStack({ lanes: 1, onNote: () => undefined, onServerDeath: (server) => deaths.push(server) });
});
afterAll(async () => {
  await stack.stop();
  expect(await leftOnEngine(2_000)).toEqual([]);
  expect(deaths).toEqual([]);
});

it('a link obeys while its server dies and when it is dead: nobody waits long for a name or an address', async () => {
  const link = stack.link(0, 'gateway-redis');
  const { redisPrimary, redisReplica, postgres } = stack.description.direct;
  // Toxiproxy looks for the server of each before it takes the next: so it is in the middle of that whenever the server goes.
  const clients: Socket[] = [];
  const knocking = setInterval(() => clients.push(connect(link.listen).on('error', () => undefined)), 5);
  await stack.server('redis-primary').kill();
  await link.setUpstream(redisReplica);
  clearInterval(knocking);
  const probe = await openLinkProbe(link.listen, 'redis', postgres);
  await probe.exchange(1, 0);
  await probe.end();
  await link.setUpstream(redisPrimary);
  await stack.server('redis-primary').start();
  for (const client of clients) client.destroy();
});

it.each(STORES)('%s cut off from its network neither answers nor refuses; plugged in again the same conversation goes on', async (store, name, linkNamed) => {
  const server = stack.server(name);
  const { listen } = stack.link(0, linkNamed);
  const { postgres } = stack.description.direct;
  const probe = await openLinkProbe(listen, store, postgres);
  await probe.exchange(1, 0);
  expect(await server.isUnplugged()).toBe(false);
  await server.unplug();
  expect(await server.isUnplugged()).toBe(true);
  const pending = probe.exchange(1, 10_000);
  expect(await Promise.race([pending.then(() => 'answered', () => 'refused'), delay(1_500, 'silent')])).toBe('silent');
  await server.plugIn();
  expect(await server.isUnplugged()).toBe(false);
  // What was sent meanwhile is sent again by the kernel, the later the longer it had waited.
  await pending;
  await probe.end();
  const fresh = await openLinkProbe(listen, store, postgres);
  await fresh.exchange(1, 0);
  await fresh.end();
});

it.each(STORES)('%s frozen is silent, its connections stay open; thawed it answers what it was asked meanwhile', async (store, name, linkNamed) => {
  const server = stack.server(name);
  const probe = await openLinkProbe(stack.link(0, linkNamed).listen, store, stack.description.direct.postgres);
  await server.freeze();
  expect(await server.isFrozen()).toBe(true);
  const pending = probe.exchange(1, 10_000);
  expect(await Promise.race([pending.then(() => 'answered', () => 'refused'), delay(1_000, 'silent')])).toBe('silent');
  await server.thaw();
  expect(await server.isFrozen()).toBe(false);
  await pending;
  await probe.end();
});

it.each(STORES)('%s killed while it is frozen is gone, and started again it is ready when that is told', async (store, name, linkNamed) => {
  const server = stack.server(name);
  await server.freeze();
  await server.kill();
  expect(await server.isRunning()).toBe(false);
  await server.start();
  expect(await server.isRunning()).toBe(true);
  const probe = await openLinkProbe(stack.link(0, linkNamed).listen, store, stack.description.direct.postgres);
  await probe.exchange(1, 0);
  await probe.end();
});

it('Toxiproxy killed and started again has its proxies, without the toxics of before', async () => {
  const link = stack.link(0, 'gateway-redis');
  await link.addToxic({ name: 'before', type: 'latency', stream: 'upstream', attributes: { latency: 1 } });
  await stack.server('toxiproxy').kill();
  await stack.server('toxiproxy').start();
  expect(await link.listToxics()).toEqual([]);
  const probe = await openLinkProbe(link.listen, 'redis', stack.description.direct.postgres);
  await probe.exchange(1, 0);
  await probe.end();
});
