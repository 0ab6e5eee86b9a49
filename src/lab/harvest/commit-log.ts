/**
 * The commit log as evidence (DESIGN §7): a logical slot made after seeding and before the storm, read with `pgoutput` when all stands still.
 * Every row change in commit order, so that a moment of oversell cannot hide behind a good end.
 */
import type { Client } from 'pg';
import { PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';

import type { CommitLogFacts, CommittedTransaction, RowChange } from '../../facts/store-facts.js';

const SLOT_PREFIX = 'lab_';
const PUBLICATION = 'lab_all';
/** Transactions per read: keeps one answer of the server under some 10 MB. */
const CHANGES_PER_READ = 20_000;

/** Makes publication and slot in the database of `client`. Slot names are per server, so the namespace is part of it. */
export async function openCommitLog(client: Client, namespaceId: string): Promise<void> {
  await client.query(`CREATE PUBLICATION ${PUBLICATION} FOR ALL TABLES`);
  await client.query('SELECT pg_create_logical_replication_slot($1, $2)', [SLOT_PREFIX + namespaceId, 'pgoutput']);
}

/** Drops the slot if it is there: a forgotten slot holds WAL back for ever. */
export async function closeCommitLog(client: Client, namespaceId: string): Promise<void> {
  await client.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT active', [SLOT_PREFIX + namespaceId]);
}

function textRow(tuple: Record<string, unknown>): Record<string, string | null> {
  const row: Record<string, string | null> = {};
  for (const [column, value] of Object.entries(tuple)) {
    if (value === undefined) continue;
    if (value !== null && typeof value !== 'string') throw new Error(`commit log: column ${column} is not text`);
    row[column] = value;
  }
  return row;
}

function rowChange(message: Pgoutput.Message): RowChange | null {
  switch (message.tag) {
    case 'insert':
      return { table: message.relation.name, kind: 'insert', row: textRow(message.new) };
    case 'update':
      return { table: message.relation.name, kind: 'update', row: textRow(message.new) };
    case 'delete':
      return { table: message.relation.name, kind: 'delete', row: textRow(message.key ?? message.old ?? {}) };
    case 'truncate':
      throw new Error('commit log: a table was truncated during the run');
    default:
      return null;
  }
}

/**
 * Everything committed since `openCommitLog` up to now, in commit order. Consumes the slot, so it answers once. Rejects when the slot is
 * gone or a change cannot be understood: half a log is no evidence.
 */
export async function harvestCommitLog(client: Client, namespaceId: string): Promise<CommitLogFacts> {
  const slot = SLOT_PREFIX + namespaceId;
  const end = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  const upto = end.rows[0]?.lsn;
  if (upto === undefined) throw new Error('commit log: no WAL position');
  const parser = new PgoutputPlugin({ protoVersion: 1, publicationNames: [PUBLICATION] });
  const transactions: CommittedTransaction[] = [];
  let open: { xid: number; lsn: string; committedAtUs: number; changes: RowChange[] } | null = null;
  for (;;) {
    const read = await client.query<{ data: Buffer }>('SELECT data FROM pg_logical_slot_get_binary_changes($1, $2::pg_lsn, $3, $4, $5, $6, $7)', [
      slot, upto, CHANGES_PER_READ, 'proto_version', '1', 'publication_names', PUBLICATION,
    ]);
    for (const { data } of read.rows) {
      const message = parser.parse(data);
      // The parser would turn values into dates and objects; the evidence is the text that PostgreSQL printed.
      if (message.tag === 'relation') for (const column of message.columns) column.parser = (raw: string) => raw;
      if (message.tag === 'begin') {
        open = { xid: message.xid, lsn: message.commitLsn ?? '', committedAtUs: Number(message.commitTime), changes: [] };
      } else if (message.tag === 'commit') {
        if (open === null) throw new Error('commit log: a commit without its begin');
        transactions.push(open);
        open = null;
      } else {
        const change = rowChange(message);
        if (change !== null) {
          if (open === null) throw new Error('commit log: a change outside of a transaction');
          open.changes.push(change);
        }
      }
    }
    if (read.rows.length === 0) break;
  }
  if (open !== null) throw new Error('commit log: ends inside a transaction');
  return { transactions };
}
