/** The servers of a stack in containers in the hands of a fault: dead, cut off from their network, and back. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { LinkName, StoreName } from '../../src/domain/roles.js';
import { openLinkProbe } from '../../src/lab/link-probe.js';
import { startContainerStack } from '../../src/stack/containers/start-container-stack.js';
import type { RunningStack } from '../../src/stack/running-stack.js';
import { leftOnEngine } from './engine.js';

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

it('a link to a dead server obeys: nobody waits for a name that is not answered', async () => {
  const link = stack.link(0, 'gateway-redis');
  const { redisPrimary, redisReplica, postgres } = stack.description.direct;
  await stack.server('redis-primary').kill();
  // Toxiproxy looks for the server of each before it takes the next; the moment is for it to be in the middle of that.
  const clients = [1, 2, 3].map(() => connect(link.listen).on('error', () => undefined));
  await delay(300);
  await link.setUpstream(redisReplica);
  const probe = await openLinkProbe(link.listen, 'redis', postgres);
  await probe.exchange(1, 0);
  await probe.end();
  await link.setUpstream(redisPrimary);
  await stack.server('redis-primary').start();
  for (const client of clients) client.destroy();
});

it.each<[StoreName, 'redis-primary' | 'postgres' | 'kafka', LinkName]>([
  ['redis', 'redis-primary', 'gateway-redis'],
  ['postgres', 'postgres', 'consumer-postgres'],
  ['kafka', 'kafka', 'gateway-kafka'],
])('%s cut off from its network neither answers nor refuses; plugged in again the same conversation goes on', async (store, name, linkNamed) => {
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
