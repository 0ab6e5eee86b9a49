/** Brings a database to the newest schema: numbered files in order, each in its own transaction, each once. */
import { createHash } from 'node:crypto';

import type { ClientBase } from 'pg';

import { loadMigrations, type Migration } from './sql-loader.js';

/** Any constant; two migrators of one database must use the same. */
const LOCK_KEY = '7310578216';

const CREATE_RECORD = `CREATE TABLE IF NOT EXISTS public.schema_migration (
  version INTEGER PRIMARY KEY, name VARCHAR(128) NOT NULL, checksum VARCHAR(64) NOT NULL,
  applied_at TIMESTAMPTZ NOT NULL DEFAULT statement_timestamp())`;

/**
 * Applies what is missing and returns the names applied now. Safe when two run at once: the second waits for the first. Rejects when a
 * migration fails, or when a file differs from what was applied under its number.
 */
export async function migrate(client: ClientBase): Promise<readonly string[]> {
  await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
  try {
    await client.query('SET search_path TO public');
    await client.query(CREATE_RECORD);
    const { rows } = await client.query<{ version: number; checksum: string }>('SELECT version, checksum FROM schema_migration');
    const applied = new Map(rows.map((row) => [row.version, row.checksum]));
    const names: string[] = [];
    for (const migration of loadMigrations()) {
      const known = applied.get(migration.version);
      if (known !== undefined && known !== checksumOf(migration)) throw new Error(`migration ${migration.name} was changed after it was applied`);
      if (known !== undefined) continue;
      await apply(client, migration);
      names.push(migration.name);
    }
    return names;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK_KEY]).catch(() => undefined);
  }
}

function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.text).digest('hex');
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.text);
    await client.query('INSERT INTO schema_migration (version, name, checksum) VALUES ($1, $2, $3)', [migration.version, migration.name, checksumOf(migration)]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new Error(`migration ${migration.name} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
