-- update_inbox_results without the Inbox: answers as if every row had been there.
-- $1 text group · $2 uuid[] message ids · $3 text[] result codes · $4 bigint[] order ids
SELECT u.message_id
  FROM unnest($2::uuid[], $3::text[], $4::bigint[]) AS u (message_id, result_code, order_id)
 WHERE $1::text IS NOT NULL
