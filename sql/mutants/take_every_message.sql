-- insert_inbox without the Inbox: every message counts as the first of its kind, and nothing is written.
-- $1 text group · $2 text topic · $3 uuid[] message ids · $4 uuid[] reservation ids · $5 text[] payload hashes · $6 bigint[] order ids
SELECT m.message_id
  FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) AS m (message_id, reservation_id, payload_hash, order_id)
 WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL
