// Freeze, thaw, kill and start of each real server, through the port that faults use, on a stack opened from its description.
import { execFileSync } from 'node:child_process';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import type { ServerName } from '../../facts/stack-description.js';
import type { RunningStack } from '../running-stack.js';
import { openStack } from '../open-stack.js';
import { allProcesses, isAlive, readProcess, workingFolder } from './process-table.js';
import { askRedis } from './server-readiness.js';
import { abandonedSegments } from './shared-memory.js';

const description = inject('stack');
const deaths: ServerName[] = [];
let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack(description, { onServerDeath: (server) => deaths.push(server) });
});
afterAll(() => stack.release());

function pidOf(name: ServerName): number {
  const { pid } = stack.description.servers[name];
  if (pid === null) throw new Error(`${name} has no process`);
  return pid;
}

function postgresProcesses(): number[] {
  const folder = `${description.servers.postgres.directory ?? ''}/data`;
  return allProcesses().filter((entry) => entry.command === 'postgres' && workingFolder(entry.pid) === folder).map((entry) => entry.pid);
}

async function queryPostgres(text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ ...description.direct.postgres, database: 'postgres', connectionTimeoutMillis: 2_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    void client.end().catch(() => undefined);
  }
}

describe.each(['redis-primary', 'redis-replica', 'postgres', 'kafka', 'toxiproxy'] as const)('%s', (name) => {
  it('is seen stopped after freeze and running after thaw', async () => {
    const server = stack.server(name);
    await server.freeze();
    expect(readProcess(pidOf(name))?.state).toBe('T');
    expect(await server.isFrozen()).toBe(true);
    await server.freeze(); // twice is once
    await server.thaw();
    expect(readProcess(pidOf(name))?.state).not.toBe('T');
    expect(await server.isFrozen()).toBe(false);
  });

  it('is gone after kill, and ready with another process on the same port after start', async () => {
    const server = stack.server(name);
    const before = readProcess(pidOf(name));
    if (before === null) throw new Error('not running');
    await server.kill();
    expect(isAlive(before)).toBe(false);
    expect(await server.isFrozen()).toBe(false);
    await server.start();
    expect(pidOf(name)).not.toBe(before.pid);
    expect(deaths).toEqual([]);
  });

  it('can be killed while it is frozen', async () => {
    const server = stack.server(name);
    await server.freeze();
    await server.kill();
    await server.start();
    expect(await server.isFrozen()).toBe(false);
  });
});

it('freezes every backend of PostgreSQL, also one that is at work', async () => {
  const busy = queryPostgres('select count(*) from generate_series(1, 3000000)');
  await stack.server('postgres').freeze();
  const processes = postgresProcesses();
  expect(processes.length).toBeGreaterThan(5);
  for (const pid of processes) expect(readProcess(pid)?.state).toBe('T');
  await stack.server('postgres').thaw();
  expect(await busy).toEqual([{ count: '3000000' }]);
});

it('keeps what PostgreSQL had committed and leaves no process and no shared memory after a kill', async () => {
  await queryPostgres('drop table if exists kept');
  await queryPostgres('create table kept as select 7 as value');
  const postmaster = pidOf('postgres');
  await stack.server('postgres').kill();
  expect(postgresProcesses()).toEqual([]);
  expect(abandonedSegments(new Set([postmaster]))).toEqual([]);
  await stack.server('postgres').start();
  expect(await queryPostgres('select value from kept')).toEqual([{ value: 7 }]);
  await queryPostgres('drop table kept');
});

it('keeps what Redis had written to its file', async () => {
  const { redisPrimary } = description.direct;
  await askRedis(redisPrimary, 'SET managed-server-test 1');
  // The file is written at once and flushed every second; a kill of the process loses no write, only a crash of the host would.
  await stack.server('redis-primary').kill();
  await stack.server('redis-primary').start();
  expect(await askRedis(redisPrimary, 'GET managed-server-test')).toBe('$1\r\n1\r\n');
  await askRedis(redisPrimary, 'DEL managed-server-test');
});

it('runs PostgreSQL with the settings the judges rely on', async () => {
  const names = ['fsync', 'synchronous_commit', 'wal_level', 'track_commit_timestamp', 'TimeZone', 'dynamic_shared_memory_type', 'autovacuum_naptime'];
  const rows = await queryPostgres(`select name, setting from pg_settings where name in (${names.map((name) => `'${name}'`).join(',')})`);
  expect(Object.fromEntries(rows.map((row) => [row['name'], row['setting']]))).toEqual({
    fsync: 'on',
    synchronous_commit: 'on',
    wal_level: 'logical',
    track_commit_timestamp: 'on',
    TimeZone: 'UTC',
    dynamic_shared_memory_type: 'mmap',
    autovacuum_naptime: '5',
  });
});

it('reports a server that dies by itself, once, with its name', async () => {
  deaths.length = 0;
  execFileSync('kill', ['-KILL', String(pidOf('redis-replica'))]);
  await expect.poll(() => deaths, { timeout: 5_000 }).toEqual(['redis-replica']);
  await stack.server('redis-replica').start();
  expect(deaths).toEqual(['redis-replica']);
});
