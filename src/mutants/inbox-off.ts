/**
 * inbox-off: the consumer writes no Inbox row and takes every message for new.
 *
 * The other keys (reservation, request, user) still stop a second order, which is why people think the Inbox can go (paper `001` §17, question
 * 2): what is lost is the knowledge that a message has been finished, and with it the answer to a COMMIT of unknown outcome. The judge reads
 * just that: a message below the committed offset without its row.
 */
import type { Mutant } from './mutant.js';

/** Same parameters and columns as `insert_inbox.sql`; inserts nothing. Each parameter is named once, else it would have no type. */
const TAKE_ALL = `
SELECT m.message_id
  FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) AS m (message_id, reservation_id, payload_hash, order_id)
 WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL`;

/** As `update_inbox_results.sql`, as if every row had been there. */
const CORRECT_NONE = `
SELECT u.message_id
  FROM unnest($2::uuid[], $3::text[], $4::bigint[]) AS u (message_id, result_code, order_id)
 WHERE $1::text IS NOT NULL`;

export const inboxOff: Mutant = {
  name: 'inbox-off',
  description: 'The consumer keeps no Inbox: every message counts as the first of its kind.',
  warnedBy: '001 §9.1 and §17 question 2',
  caughtBy: 'inbox-once',
  showsUnder: 'hot-sku',
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { insert_inbox: TAKE_ALL, update_inbox_results: CORRECT_NONE } } : {}),
};
