/** Inbox rows that retention took: gone in their time they count as there, gone too early they are missing, and without the commit log nobody can tell. */
import { expect, it } from 'vitest';

import type { Facts } from '../facts/facts.js';
import { columnOf } from './commit-history.js';
import { edited, without } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { inboxRows } from './inbox-rows.js';
import { inboxOnce } from './inbox-once.js';
import { INVARIANTS } from './registry.js';

const CLEAN = handWrittenFacts({ duplicateShare: 0.2, fates: { paid: 0.3, expired: 0.2, rejected: 0.1 } });
const RETENTION_MS = 60_000;

/** All Inbox rows but the last are deleted when they are `ageMs` old. */
function trimmed(ageMs: number, inboxRetentionMs: number | null = RETENTION_MS): Facts {
  return edited(CLEAN, (draft) => {
    draft.run.inboxRetentionMs = inboxRetentionMs;
    const gone = new Set(draft.postgres.inbox.slice(0, -1).map((row) => row.messageId));
    draft.postgres.inbox = draft.postgres.inbox.slice(-1);
    for (const transaction of [...draft.commitLog.transactions]) {
      for (const change of transaction.changes) {
        if (change.table !== 'consumer_inbox' || !gone.has(columnOf(change, 'message_id'))) continue;
        const processedMs = Math.floor(transaction.committedAtUs / 1_000);
        change.row['processed_at'] = new Date(processedMs).toISOString().replace('T', ' ').replace('Z', '+00');
        const last = draft.commitLog.transactions.at(-1);
        draft.commitLog.transactions.push({
          xid: 1_000_000, lsn: `FFFF/${(draft.commitLog.transactions.length + (last?.xid ?? 0)).toString(16).toUpperCase()}`, committedAtUs: (processedMs + ageMs) * 1_000,
          changes: [{ table: 'consumer_inbox', kind: 'delete', row: { consumer_group: columnOf(change, 'consumer_group'), message_id: columnOf(change, 'message_id') } }],
        });
      }
    }
  });
}

it('count as there when their time to go had come, for every judge', () => {
  const facts = trimmed(RETENTION_MS);
  expect(new Set(inboxRows(facts).map((row) => JSON.stringify(row)))).toEqual(new Set(inboxRows(CLEAN).map((row) => JSON.stringify(row))));
  const say = (of: Facts) => Object.fromEntries(INVARIANTS.map((invariant) => [invariant.name, invariant.judge(of).outcome]));
  expect(say(facts)).toEqual(say(CLEAN));
});

it('are missing when they went too early, or where nothing may ever go', () => {
  for (const facts of [trimmed(RETENTION_MS - 1), trimmed(RETENTION_MS, null)]) expect(inboxOnce.judge(facts)).toMatchObject({ outcome: 'violated' });
});

it('are missing where nobody deleted them', () => {
  const facts = edited(CLEAN, (draft) => { draft.run.inboxRetentionMs = RETENTION_MS; draft.postgres.inbox.shift(); });
  expect(inboxOnce.judge(facts)).toMatchObject({ outcome: 'violated', violations: 1 });
});

it('leave it open without the commit log', () => {
  expect(inboxOnce.judge(without(trimmed(RETENTION_MS), 'commitLog'))).toMatchObject({ outcome: 'unknown', violations: 0 });
});
