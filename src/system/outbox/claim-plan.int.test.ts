/**
 * A claim looks each event's predecessors up, and finds what it has locked by the primary key, also when the statistics say that nothing is unsent: so they do at
 * the beginning of every burst after a quiet time. Planned by them, a page of 500 walked through all unsent events 500 times.
 */
import { expect, test } from 'vitest';

import { openCase } from '../ledger/ledger-case.test-support.js';
import { loadStatements } from '../ledger/sql-loader.js';

const SENT_LONG_AGO = `
INSERT INTO event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload, status, sent_at)
SELECT gen_random_uuid(), 'k' || n, 'RESERVATION', gen_random_uuid()::text, 2, 'events', 'ORDER_CREATED', 'k' || n, 1, '{"some":"payload of an event"}', 20, statement_timestamp()
  FROM generate_series(1, 5000) AS n`;

test.each(['never analysed', 'analysed when all was sent'])('planned by keys: %s', async (when) => {
  await using fresh = await openCase({ stock: 1 });
  const { client } = fresh;
  await client.query(SENT_LONG_AGO);
  if (when !== 'never analysed') await client.query('VACUUM ANALYZE event_outbox');
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE claim AS ${loadStatements().claim_outbox.text}`);
  const { rows } = await client.query<Record<'QUERY PLAN', string>>("EXPLAIN EXECUTE claim (500, 'c')");
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/SubPlan [^]*idx_outbox_unsent_aggregate[^]*Cond: \(\(\(aggregate_id\)::text = \(o_1\.aggregate_id\)::text\)/);
  expect(plan).toMatch(/event_outbox_pkey/);
  expect(plan).not.toMatch(/Anti Join/);
});
