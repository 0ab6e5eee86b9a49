-- Events that were sent, with the payload of an event.
-- $1 int rows · $2 text topic
INSERT INTO event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload, status, sent_at)
SELECT ('01900000-0000-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, 'ORDER_CREATED:' || ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'RESERVATION',
       (('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid)::text, 2, $2::text, 'ORDER_CREATED', 'fill-' || n, 1,
       jsonb_build_object('schemaVersion', 1, 'eventId', ('01900000-0000-7000-a000-' || lpad(to_hex(n), 12, '0'))::uuid, 'type', 'ORDER_CREATED', 'requestId', 'fill-' || n,
                          'userId', (1000000000000 + n)::text, 'orderId', (7000000000000000 + n)::text, 'reason', NULL, 'returnsUnit', false, 'clearsUserMark', false),
       20, statement_timestamp()
  FROM generate_series(1, $1::int) AS n
