-- Events of this transaction (paper 001 §9.7). A key that exists means the event has been written before: not an error, and not a second one.
-- $1 text[] topics · $2 uuid[] event ids · $3 text[] dedup keys · $4 text[] aggregate ids · $5 bigint[] aggregate versions ·
-- $6 text[] types · $7 text[] payloads (JSON) · $8 text[] not sent before this time (null: at once) ·
-- $9 text[] headers (JSON): the trace
INSERT INTO event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload,
                          available_at, headers)
SELECT e.event_id, e.dedup_key, 'RESERVATION', e.aggregate_id, e.aggregate_version, e.topic, e.type, e.aggregate_id, 1, e.payload::jsonb,
       coalesce(e.available_at::timestamptz, statement_timestamp()), e.headers::jsonb
  FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
              $9::text[])
       AS e (topic, event_id, dedup_key, aggregate_id, aggregate_version, type, payload, available_at, headers)
ON CONFLICT (dedup_key) DO NOTHING
