/**
 * A shared stack goes on after the run, so a failover in it is turned back: the old primary comes up, takes everything over from the one that
 * serves, and is the primary again; the replica follows it through its proxy as before.
 */
import { linkName, ROLE_LINKS, ROLE_NAMES } from '../domain/roles.js';
import type { HostPort } from '../domain/role-config.js';
import { LabError } from '../facts/lab-error.js';
import type { RunningStack } from '../stack/running-stack.js';
import { directRedis } from './store-clients.js';

type StackInHand = Pick<RunningStack, 'description' | 'server' | 'link' | 'setRedisPrimary' | 'amongServers'>;

const FOLLOW_BOUND_MS = 15_000;

function sameAddress(one: HostPort, other: HostPort): boolean {
  return one.host === other.host && one.port === other.port;
}

/** Does nothing where no failover happened. */
export async function restoreRedisPair(stack: StackInHand): Promise<void> {
  const { direct, servers } = stack.description;
  const primary = servers['redis-primary'].address;
  const replica = servers['redis-replica'].address;
  if (!sameAddress(direct.redisPrimary, replica)) return;
  await stack.server('redis-primary').start();
  await follow(primary, stack.amongServers(replica));
  await command(primary, ['NO', 'ONE']);
  await follow(replica, stack.amongServers(stack.link(0, 'replication').listen));
  for (const lane of stack.description.lanes) {
    for (const role of ROLE_NAMES) if (ROLE_LINKS[role].includes('redis')) await stack.link(lane.index, linkName(role, 'redis')).setUpstream(primary);
  }
  stack.setRedisPrimary('redis-primary');
}

async function command(address: HostPort, of: readonly [string, string]): Promise<void> {
  const redis = directRedis(address);
  try {
    await redis.call('REPLICAOF', ...of);
  } finally {
    redis.disconnect();
  }
}

/** Resolves when `follower` holds what `leader` holds. */
async function follow(follower: HostPort, leader: HostPort): Promise<void> {
  await command(follower, [leader.host, String(leader.port)]);
  const redis = directRedis(follower);
  try {
    const deadline = performance.now() + FOLLOW_BOUND_MS;
    while (!(await redis.info('replication')).includes('master_link_status:up')) {
      if (performance.now() > deadline) throw new LabError('STACK_GONE', 'a Redis of the pair does not follow the other', 'end the stack with `npx seckill-lab down` and start it again');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    redis.disconnect();
  }
}
