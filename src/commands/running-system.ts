/** A system that runs on somebody's stack, as the commands for operators reach it: by its stack file and its namespace, on direct connections. */
import pg from 'pg';

import { namespaceOf, type Namespace } from '../domain/namespace.js';
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import { directPostgres, withPostgres } from '../lab/store-clients.js';
import { DEFAULT_STACK_FILE, readStackFile } from '../stack/stack-file.js';

export interface SystemOptions {
  readonly stackFile?: string;
  readonly namespace?: string;
}

export interface RunningSystem {
  readonly namespace: Namespace;
  readonly stack: StackDescription;
  /** The system's own database. */
  readonly client: pg.Client;
}

/** SQLSTATE of "no such database". */
const NO_SUCH_DATABASE = '3D000';

/** Runs `work` with the system's database. LabError when there is no such stack, no such namespace, or PostgreSQL does not answer. */
export async function withRunningSystem<T>(options: SystemOptions, work: (system: RunningSystem) => Promise<T>): Promise<T> {
  const id = options.namespace ?? '';
  if (!/^[a-z0-9]{1,24}$/.test(id)) {
    throw new LabError('USAGE', id === '' ? '--namespace is missing' : `--namespace ${id}: is 1 to 24 of a-z and 0-9`, 'it is written in the manifest of the run and starts the names of its topics');
  }
  const stack = await readStackFile(options.stackFile ?? DEFAULT_STACK_FILE);
  const namespace = namespaceOf(id);
  const client = await connect(stack, namespace);
  try {
    return await work({ namespace, stack, client });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect(stack: StackDescription, { id, database }: Namespace): Promise<pg.Client> {
  try {
    return await directPostgres(stack.direct.postgres, database);
  } catch (cause) {
    if (cause instanceof pg.DatabaseError && cause.code === NO_SUCH_DATABASE) {
      throw new LabError('USAGE', `the stack has no namespace ${id}`, `it has ${(await namespacesOf(stack)).join(' ') || 'none'}`, { cause });
    }
    throw new LabError('STACK_GONE', `PostgreSQL of the stack does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, 'start the stack again with `npx seckill-lab up`', { cause });
  }
}

async function namespacesOf(stack: StackDescription): Promise<readonly string[]> {
  return withPostgres(stack.direct.postgres, 'postgres', async (client) => {
    const { rows } = await client.query<{ id: string }>("SELECT substr(datname, 9) AS id FROM pg_database WHERE datname LIKE 'seckill\\_%' AND NOT datistemplate ORDER BY 1");
    return rows.map(({ id }) => id);
  });
}
