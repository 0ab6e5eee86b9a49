/**
 * A small disk under the data of a server, so that "no space left on device" can be had without filling the machine: a tmpfs, mounted as root. PostgreSQL's
 * tables of the run move there and back as a tablespace, while the server runs; Kafka's data has to lie there from its start (`local-stack`, `smallKafkaDisk`).
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, rmdir, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Namespace } from '../domain/namespace.js';
import { LEDGER_TABLES, type DiskTarget } from '../facts/database-target.js';
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import { withPostgres } from './store-clients.js';

const run = promisify(execFile);
const POSTGRES_DISK_MEGABYTES = 64;
const FILLER = 'lab-filler';
const BLOCK_BYTES = 4_096;

async function isMounted(folder: string): Promise<boolean> {
  return (await readFile('/proc/self/mounts', 'utf8')).split('\n').some((line) => line.split(' ')[1] === folder);
}

const freeBytes = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** Writes until nothing more goes in, in smaller and smaller pieces. Root's own reserve does not exist on a tmpfs. */
async function fill(folder: string): Promise<void> {
  for (let piece = 0, size = 16 * 1_048_576; size >= BLOCK_BYTES; ) {
    try {
      await writeFile(join(folder, `${FILLER}-${String(piece)}`), Buffer.alloc(size), { flag: 'wx' });
      piece += 1;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') piece += 1;
      else if (code === 'ENOSPC') size /= 2;
      else throw cause;
    }
  }
}

async function empty(folder: string): Promise<void> {
  for (let piece = 0; ; piece += 1) {
    const path = join(folder, `${FILLER}-${String(piece)}`);
    try {
      await rm(path);
    } catch {
      return;
    }
  }
}

function needsRoot(what: string, cause?: unknown): LabError {
  return new LabError('STACK_START_FAILED', `${what} needs a small disk of its own, and none can be mounted here`, 'run as root on Linux with a local stack, or leave this fault out', { cause });
}

/** Kafka's data folder, when the stack was started with a small disk under it. */
export function kafkaDisk(stack: Pick<StackDescription, 'servers'>): DiskTarget {
  const { directory } = stack.servers.kafka;
  const data = directory === null ? null : join(directory, 'data');
  const there = (): string => {
    if (data === null) throw needsRoot('disk-full of kafka');
    return data;
  };
  return {
    async prepare() {
      if (await isMounted(there())) return;
      throw new LabError('STACK_START_FAILED', 'the Kafka of this stack has no small disk under its data', 'run without --stack-file, as root, so that the stack is started with one');
    },
    fill: () => fill(there()),
    freeBytes: () => freeBytes(there()),
    empty: () => empty(there()),
    restore: () => Promise.resolve(),
  };
}

/** The run's tables on a tablespace of their own. */
export function postgresDisk(stack: Pick<StackDescription, 'servers' | 'direct'>, { id, database }: Pick<Namespace, 'id' | 'database'>): DiskTarget {
  const { directory } = stack.servers.postgres;
  const folder = directory === null ? null : join(directory, `small-disk-${id}`);
  const space = `small_${id}`;
  const there = (): string => {
    if (folder === null) throw needsRoot('disk-full of postgres');
    return folder;
  };
  const moveTo = (tablespace: string): Promise<void> =>
    withPostgres(stack.direct.postgres, database, async (client) => {
      await client.query("SET lock_timeout = '10s'");
      for (const table of LEDGER_TABLES) await client.query(`ALTER TABLE ${table} SET TABLESPACE ${tablespace}`);
    });
  return {
    async prepare() {
      const place = there();
      await mkdir(place, { recursive: true });
      const { uid, gid } = await stat(join(directory ?? '', 'data'));
      try {
        if (!(await isMounted(place))) await run('mount', ['-t', 'tmpfs', '-o', `size=${String(POSTGRES_DISK_MEGABYTES)}m,uid=${String(uid)},gid=${String(gid)},mode=700`, 'seckill-lab', place]);
      } catch (cause) {
        await rmdir(place).catch(() => undefined);
        throw needsRoot('disk-full of postgres', cause);
      }
      await withPostgres(stack.direct.postgres, database, (client) => client.query(`CREATE TABLESPACE ${space} LOCATION '${place}'`));
      await moveTo(space);
    },
    fill: () => fill(there()),
    freeBytes: () => freeBytes(there()),
    empty: () => empty(there()),
    async restore() {
      const place = there();
      if (!(await isMounted(place))) return;
      await moveTo('pg_default');
      await withPostgres(stack.direct.postgres, database, (client) => client.query(`DROP TABLESPACE IF EXISTS ${space}`));
      await run('umount', [place]);
      await rmdir(place);
    },
  };
}
