-- Events of this transaction (paper 001 §9.7). A key that exists means the event has been written before: not an error, and not a second one.
-- $1 text topic · $2 uuid[] event ids · $3 text[] dedup keys · $4 text[] aggregate ids · $5 bigint[] aggregate versions ·
-- $6 text[] types · $7 text[] payloads (JSON)
INSERT INTO event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload)
SELECT e.event_id, e.dedup_key, 'RESERVATION', e.aggregate_id, e.aggregate_version, $1::text, e.type, e.aggregate_id, 1, e.payload::jsonb
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
       AS e (event_id, dedup_key, aggregate_id, aggregate_version, type, payload)
ON CONFLICT (dedup_key) DO NOTHING
