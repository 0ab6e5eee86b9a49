/** PostgreSQL: a copy of the initialised data folder, and the binaries of the npm package started directly. */
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client } from 'pg';

import type { PostgresAddress } from '../../domain/role-config.js';
import type { Workshop } from '../workshop.js';
import { postgresArguments, SUPERUSER } from './postgres-settings.js';
import type { UnprivilegedUser } from './postgres-home.js';
import type { ServerLaunch } from './server-launch.js';

export interface PostgresPlan {
  readonly home: string;
  readonly template: string;
  readonly user: UnprivilegedUser | null;
  readonly directory: string;
  readonly port: number;
}

/** Makes the data folder. `cp -a` keeps its owner, which a copy by the lab would not. */
export async function planPostgres(workshop: Workshop, plan: PostgresPlan): Promise<ServerLaunch> {
  const folder = join(plan.directory, 'postgres');
  const data = join(folder, 'data');
  await mkdir(folder, { mode: 0o711 });
  if (plan.user !== null) await chown(folder, plan.user.uid, plan.user.gid);
  await workshop.run('cp', ['-a', join(plan.template, 'data'), data]);
  return {
    name: 'postgres',
    command: join(plan.home, 'bin', 'postgres'),
    args: postgresArguments(data, plan.port),
    workingFolder: folder,
    env: { LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    user: plan.user === null ? null : { uid: plan.user.uid, gid: plan.user.gid },
    logFile: join(folder, 'server.log'),
    postgresData: data,
  };
}

/** The address with the password of the template, good until `giveOwnPassword`. */
export async function templateAddress(template: string, port: number): Promise<PostgresAddress> {
  const password = (await readFile(join(template, 'password'), 'utf8')).trim();
  return { host: '127.0.0.1', port, user: SUPERUSER, password };
}

/** Sets a random password in this stack's copy, and an archive command that may be changed while it runs; returns the address with the password. */
export async function giveOwnPassword(address: PostgresAddress): Promise<PostgresAddress> {
  const password = randomBytes(18).toString('base64url');
  await withConnection(address, async (client) => {
    await client.query(`alter role ${SUPERUSER} password '${password}'`);
    await client.query("alter system set archive_command = 'true'");
    await client.query('select pg_reload_conf()');
  });
  return { ...address, password };
}

export async function postgresVersion(address: PostgresAddress): Promise<string> {
  return withConnection(address, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? 'unknown';
  });
}

/** True when it answers a query within a second. Any error is "not yet": starting up, recovering, nobody there. */
export async function postgresAnswers(address: PostgresAddress): Promise<boolean> {
  try {
    await withConnection(address, (client) => client.query('select 1'));
    return true;
  } catch {
    return false;
  }
}

async function withConnection<T>(address: PostgresAddress, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...address, database: 'postgres', connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
  // A connection that breaks later than its query says so here, and nobody else cares.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not awaited: a frozen server never closes its side.
    void client.end().catch(() => undefined);
  }
}
