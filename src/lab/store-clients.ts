/**
 * The lab's own direct connections, one kind per store: for seeding, watching and harvest. Never through a proxy, so a fault cannot blind
 * the lab.
 */
import { Redis } from 'ioredis';
import pg from 'pg';

import type { HostPort, PostgresAddress } from '../domain/role-config.js';

/** A Redis client that fails fast and never replays (LIBRARIES §2.1). */
export function directRedis(address: HostPort): Redis {
  const redis = new Redis({
    host: address.host,
    port: address.port,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: true,
    commandTimeout: 10_000,
    connectTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
  });
  // Without a listener a lost connection would end the lab; the calls themselves reject.
  redis.on('error', () => undefined);
  return redis;
}

export async function directPostgres(address: PostgresAddress, database: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: address.host,
    port: address.port,
    user: address.user,
    password: address.password,
    database,
    application_name: 'lab',
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    options: '-c timezone=UTC',
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs `work` with a client of its own and closes it whatever happens. */
export async function withPostgres<T>(address: PostgresAddress, database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await directPostgres(address, database);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
