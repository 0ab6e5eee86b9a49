// Retention on a real PostgreSQL: only what is old enough goes, sent events stay in evidence, and nothing is archived twice.
import { readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { committed, messages, openCase } from '../ledger/ledger-case.test-support.js';
import { createRoleMetrics } from '../role-metrics.js';
import { createRetentionStore } from './retention-store.js';
import { startRetention } from './retention.js';

const FACTS = readFileSync(new URL('../../../sql/facts/outbox.sql', import.meta.url), 'utf8');

test('old Inbox rows are deleted and old sent events archived, in pages; the rest stays, and the facts hold all of it', async () => {
  await using fresh = await openCase({ stock: 3_000, tuning: { logRetentionMs: 1_000_000, recoveryDeadlineMs: 1_000_000, inboxRetentionMs: 3_600_000, outboxArchiveAfterMs: 3_600_000, retentionIntervalMs: 20 } });
  const all = messages(2_500);
  const ledger = fresh.ledger();
  // In pages as the consumer makes them: 2,500 in one statement are more than its deadline allows on a busy machine.
  for (let from = 0; from < all.length; from += 500) expect(committed(await ledger.createOrders(all.slice(from, from + 500)))).toHaveLength(500);
  const events = await fresh.count('event_outbox');
  const before = (await fresh.client.query<{ eventId: string; archived: boolean }>(FACTS)).rows;
  await fresh.client.query("update event_outbox set status = 20, sent_at = now(), created_at = created_at - interval '2 hours'");
  // 2,300 orders are two hours old, and of their events all but 100 were sent then; the others' were sent just now, or never.
  await fresh.client.query("update consumer_inbox set processed_at = processed_at - interval '2 hours' where message_id = any ($1)", [all.slice(0, 2_300).map(({ messageId }) => messageId)]);
  await fresh.client.query("update event_outbox set sent_at = sent_at - interval '2 hours' where aggregate_id = any ($1)", [all.slice(0, 2_300).map(({ reservationId }) => reservationId)]);
  await fresh.client.query('update event_outbox set status = 0, sent_at = null where aggregate_id = any ($1)', [all.slice(0, 100).map(({ reservationId }) => reservationId)]);
  const [kept] = (await fresh.client.query<{ n: number }>("select count(*)::int as n from event_outbox where sent_at is null or sent_at > now() - interval '1 hour'")).rows;

  const store = createRetentionStore(fresh.config, fresh.surroundings());
  const role = await startRetention({ store, metrics: createRoleMetrics('retention', 'retention-1') }, fresh.config, fresh.surroundings());
  await vi.waitFor(async () => { expect([await fresh.count('consumer_inbox'), await fresh.count('event_outbox')]).toEqual([200, kept?.n]); }, { timeout: 10_000 });
  await role.stop();
  expect(await fresh.count('event_outbox_archive')).toBe(events - (kept?.n ?? 0));
  const after = (await fresh.client.query<{ eventId: string; archived: boolean }>(FACTS)).rows;
  expect(after.map(({ eventId }) => eventId).toSorted()).toEqual(before.map(({ eventId }) => eventId).toSorted());
  expect(after.filter(({ archived }) => archived)).toHaveLength(events - (kept?.n ?? 0));
});
