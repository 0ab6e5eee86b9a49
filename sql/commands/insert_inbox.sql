-- Takes the right to handle the messages (paper 001 §9.1). The result is written as if every one became an order; the others are
-- corrected by update_inbox_results before COMMIT. Sorted, so that two consumers with the same messages wait in the same order.
-- $1 text group · $2 text topic · $3 uuid[] message ids · $4 uuid[] reservation ids · $5 text[] payload hashes (hex) · $6 bigint[] order ids
-- Returns the message ids taken; one that is missing has been handled by a committed transaction.
INSERT INTO consumer_inbox (consumer_group, message_id, topic, tag, message_key, reservation_id, payload_hash, result_code, order_id)
SELECT $1::text, m.message_id, $2::text, 'ORDER_CREATE', m.reservation_id::text, m.reservation_id,
       decode(m.payload_hash, 'hex'), 'ORDER_CREATED', m.order_id
  FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) AS m (message_id, reservation_id, payload_hash, order_id)
 ORDER BY m.message_id
ON CONFLICT (consumer_group, message_id) DO NOTHING
RETURNING message_id
