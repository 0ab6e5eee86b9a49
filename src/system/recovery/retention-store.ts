/** The tables that retention keeps small. Every call is one statement, and rejects when PostgreSQL does not answer in time. */
import type { RoleConfig } from '../../domain/role-config.js';
import { answers, createPool } from '../ledger/pool.js';
import { loadStatements, type Statements } from '../ledger/sql-loader.js';
import type { RoleSurroundings } from '../role.js';

export interface RetentionStore {
  /** Deletes up to `limit` Inbox rows processed longer ago than `olderThanMs`; resolves with how many. */
  deleteInbox(olderThanMs: number, limit: number): Promise<number>;
  /** Moves up to `limit` events sent longer ago than `olderThanMs` into the archive; resolves with how many. */
  archiveOutbox(olderThanMs: number, limit: number): Promise<number>;
  /** Moves up to `limit` callbacks of the channel received longer ago than `olderThanMs` into the archive; resolves with how many. */
  archiveCallbacks(olderThanMs: number, limit: number): Promise<number>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export function createRetentionStore(config: RoleConfig, surroundings: RoleSurroundings, statements: Statements = loadStatements()): RetentionStore {
  const pool = createPool({ address: config.addresses.postgres, database: config.namespace.database, applicationName: config.instance, max: 1 }, surroundings);
  return {
    deleteInbox: async (olderThanMs, limit) => (await pool.query({ ...statements.delete_old_inbox, values: [olderThanMs, limit] })).rowCount ?? 0,
    archiveOutbox: async (olderThanMs, limit) => (await pool.query({ ...statements.archive_outbox, values: [olderThanMs, limit] })).rowCount ?? 0,
    archiveCallbacks: async (olderThanMs, limit) => (await pool.query({ ...statements.archive_callbacks, values: [olderThanMs, limit] })).rowCount ?? 0,
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}
