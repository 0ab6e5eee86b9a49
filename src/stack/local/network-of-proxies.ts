/**
 * The place of a child process in the network: its proxies. To unplug it, each of them drops whatever comes, both ways, and leaves the connections open, as the
 * network of a container does; the lab itself still reaches a local server directly.
 */
import { STORE_NAMES } from '../../domain/roles.js';
import type { LinkName, StoreName } from '../../domain/roles.js';
import type { ServerName } from '../../facts/stack-description.js';
import type { LinkTarget, NetworkTarget, ToxicSpec } from '../../facts/targets.js';
import { LINK_NAMES } from './port-plan.js';

type AnyLink = LinkName | 'replication';

/** Toxiproxy's `timeout` without a time: nothing passes, and nobody is told. When it is removed the connections that it held are closed. */
const DROP: readonly ToxicSpec[] = (['upstream', 'downstream'] as const).map((stream) => ({ name: `unplugged-${stream}`, type: 'timeout', stream, attributes: { timeout: 0 } }));

/** Links that lead to a server; Toxiproxy itself is in all of them. @param primary the Redis to which roles are led now. */
export function linksTo(server: ServerName, primary: ServerName): readonly AnyLink[] {
  const of = (store: StoreName): readonly AnyLink[] => LINK_NAMES.filter((name) => name.endsWith(`-${store}`));
  switch (server) {
    case 'redis-primary':
    case 'redis-replica':
      return [...(server === primary ? of('redis') : []), 'replication'];
    case 'postgres':
    case 'kafka':
      return of(server);
    case 'toxiproxy':
      return [...STORE_NAMES.flatMap(of), 'replication'];
  }
}

/** @param link of a lane; the one between the Redis servers is in every lane the same. */
export function networkOfProxies(server: ServerName, primary: ServerName, lanes: number, link: (lane: number, name: AnyLink) => LinkTarget): NetworkTarget {
  const links = (): LinkTarget[] => {
    const names = linksTo(server, primary);
    return Array.from({ length: lanes }, (_, lane) => names.filter((name) => name !== 'replication' || lane === 0).map((name) => link(lane, name))).flat();
  };
  const isDropping = async (target: LinkTarget): Promise<boolean> => {
    const listed = await target.listToxics();
    return DROP.every(({ name }) => listed.includes(name));
  };
  return {
    async unplug() {
      await Promise.all(links().map(async (target) => {
        for (const toxic of DROP) await target.addToxic(toxic);
      }));
    },
    async plugIn() {
      await Promise.all(links().map(async (target) => {
        for (const { name } of DROP) await target.removeToxic(name);
      }));
    },
    async isUnplugged() {
      return (await Promise.all(links().map(isDropping))).every(Boolean);
    },
  };
}
