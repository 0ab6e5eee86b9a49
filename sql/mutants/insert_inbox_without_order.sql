-- insert_inbox that does not keep which order came of the message.
-- $1 text group · $2 text topic · $3 uuid[] message ids · $4 uuid[] reservation ids · $5 text[] payload hashes (hex) · $6 bigint[] order ids
INSERT INTO consumer_inbox (consumer_group, message_id, topic, tag, message_key, reservation_id, payload_hash, result_code, order_id)
SELECT $1::text, m.message_id, $2::text, 'ORDER_CREATE', m.reservation_id::text, m.reservation_id,
       decode(m.payload_hash, 'hex'), 'ORDER_CREATED', nullif(m.order_id, m.order_id)
  FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[]) AS m (message_id, reservation_id, payload_hash, order_id)
 ORDER BY m.message_id
ON CONFLICT (consumer_group, message_id) DO NOTHING
RETURNING message_id
