-- Messages that were handled.
-- $1 int rows · $2 text consumer group · $3 text topic
INSERT INTO consumer_inbox (consumer_group, message_id, topic, tag, message_key, reservation_id, payload_hash, result_code, order_id)
SELECT $2::text, ('01900000-0000-7000-9000-' || lpad(to_hex(n), 12, '0'))::uuid, $3::text, 'ORDER_CREATE', 'fill-' || n, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
       decode('abababababababababababababababababababababababababababababababab', 'hex'), 'ORDER_CREATED', 7000000000000000 + n
  FROM generate_series(1, $1::int) AS n
