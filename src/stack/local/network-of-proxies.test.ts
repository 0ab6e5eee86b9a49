/** The network of a local server: every proxy that leads to it drops what comes, and only those. */
import { expect, test } from 'vitest';

import type { LinkTarget, ToxicSpec } from '../../facts/targets.js';
import { linksTo, networkOfProxies } from './network-of-proxies.js';

function fakeLanes(lanes: number) {
  const toxics = new Map<string, ToxicSpec[]>();
  const asked = (lane: number, name: string): string => {
    expect(lane).toBeLessThan(lanes);
    return `${String(lane)}/${name}`;
  };
  const link = (lane: number, name: LinkTarget['name']): LinkTarget => {
    const key = asked(lane, name);
    const unused = () => Promise.reject(new Error('not asked for'));
    return {
      name, listen: { host: '127.0.0.1', port: 1 }, setEnabled: unused, isEnabled: unused, setUpstream: unused, counters: unused,
      addToxic: (toxic) => Promise.resolve(void toxics.set(key, [...(toxics.get(key) ?? []), toxic])),
      removeToxic: (toxic) => Promise.resolve(void toxics.set(key, (toxics.get(key) ?? []).filter((each) => each.name !== toxic))),
      listToxics: () => Promise.resolve((toxics.get(key) ?? []).map((each) => each.name)),
    };
  };
  return { link, toxics, faulted: () => [...toxics].filter(([, list]) => list.length > 0).map(([key]) => key).sort() };
}

test('unplugs every way to the server in every lane, both directions, and plugs in again', async () => {
  const { link, toxics, faulted } = fakeLanes(2);
  const network = networkOfProxies('postgres', 'redis-primary', 2, link);
  expect(await network.isUnplugged()).toBe(false);
  await network.unplug();
  expect(await network.isUnplugged()).toBe(true);
  expect(faulted()).toContain('0/gateway-postgres');
  expect(faulted()).toContain('1/retention-postgres');
  expect(faulted().every((name) => name.endsWith('-postgres'))).toBe(true);
  expect(toxics.get('0/gateway-postgres')).toMatchObject([{ type: 'timeout', stream: 'upstream', attributes: { timeout: 0 } }, { type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } }]);
  await network.plugIn();
  expect(await network.isUnplugged()).toBe(false);
  expect(faulted()).toEqual([]);
});

test('the way between the Redis servers is in it once, and roles are led to the primary of the moment', async () => {
  const { link, faulted } = fakeLanes(2);
  await networkOfProxies('redis-primary', 'redis-primary', 2, link).unplug();
  expect(faulted().filter((name) => name.endsWith('replication'))).toEqual(['0/replication']);
  expect(linksTo('redis-primary', 'redis-replica')).toEqual(['replication']);
  expect(linksTo('redis-replica', 'redis-replica')).toContain('gateway-redis');
  expect(linksTo('toxiproxy', 'redis-primary')).toEqual(expect.arrayContaining(['gateway-kafka', 'replication', 'gateway-redis']));
});
