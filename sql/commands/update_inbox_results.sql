-- Corrects the Inbox rows of this transaction that did not become an order.
-- $1 text group · $2 uuid[] message ids · $3 text[] result codes · $4 bigint[] order ids (null where there is none)
-- The row count must equal the number of messages.
UPDATE consumer_inbox AS i
   SET result_code = u.result_code, order_id = u.order_id, processed_at = statement_timestamp()
  FROM unnest($2::uuid[], $3::text[], $4::bigint[]) AS u (message_id, result_code, order_id)
 WHERE i.consumer_group = $1 AND i.message_id = u.message_id
