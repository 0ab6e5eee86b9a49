/** Redis: a primary, and a replica that follows it through a proxy, so that replication can be frozen. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { plainEnvironment } from '../workshop.js';
import type { ServerLaunch } from './server-launch.js';

export interface RedisPlan {
  readonly name: 'redis-primary' | 'redis-replica';
  readonly program: string;
  readonly directory: string;
  readonly port: number;
  /** Port at which the replica finds its primary; null: this is the primary. */
  readonly primaryPort: number | null;
}

/** Makes the folder and the configuration. */
export async function planRedis(plan: RedisPlan): Promise<ServerLaunch> {
  const folder = join(plan.directory, plan.name);
  await mkdir(folder);
  const configuration = join(folder, 'redis.conf');
  await writeFile(configuration, redisConfiguration(plan, folder));
  return {
    name: plan.name,
    command: plan.program,
    args: [configuration],
    workingFolder: folder,
    env: plainEnvironment(),
    user: null,
    logFile: join(folder, 'server.log'),
    postgresData: null,
  };
}

/** The settings a seckill runs on: nothing is evicted, every second goes to disk; so at most the last second can be lost. */
export const REDIS_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['protected-mode', 'no'],
  ['save', ''],
  ['appendonly', 'yes'],
  ['appendfsync', 'everysec'],
  ['maxmemory-policy', 'noeviction'],
  ['tcp-backlog', '511'],
  ['repl-diskless-sync', 'yes'],
  // The default of 5 s waits for more replicas; there is one.
  ['repl-diskless-sync-delay', '0'],
  ['repl-ping-replica-period', '1'],
];

function redisConfiguration(plan: RedisPlan, folder: string): string {
  return [
    'bind 127.0.0.1',
    `port ${String(plan.port)}`,
    'daemonize no',
    `dir "${folder}"`,
    ...REDIS_SETTINGS.map(([name, value]) => `${name} ${value === '' ? '""' : value}`),
    ...(plan.primaryPort === null ? [] : [`replicaof 127.0.0.1 ${String(plan.primaryPort)}`]),
    '',
  ].join('\n');
}
