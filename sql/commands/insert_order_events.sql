-- The two events of each new order: that it was made, and the timer that ends it, not sent before the order's own expire_at. What insert_outbox would write, with the JSON of
-- the events put together here: it holds nothing but what the columns hold, and two texts of half a kilobyte an order are dear to send and to read.
-- $1 uuid[] reservation ids · $2 bigint[] versions of their rows · $3 text[] request ids · $4 bigint[] activity ids · $5 bigint[] SKU ids · $6 bigint[] user ids ·
-- $7 bigint[] order ids · $8 uuid[] ids of the events · $9 uuid[] ids of the timers · $10 text[] ends of the orders' time · $11 text[] headers (JSON): the trace ·
-- $12 text topic of events · $13 text topic of timers
INSERT INTO event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload,
                          available_at, headers)
SELECT e.event_id, e.type || ':' || o.reservation_id, 'RESERVATION', o.reservation_id::text, o.version, e.topic, e.type, o.reservation_id::text, 1,
       ('{"schemaVersion":1,"eventId":"' || e.event_id || '","type":"' || e.type || '","aggregateId":"' || o.reservation_id || '","aggregateVersion":' || o.version
         || ',"reservationId":"' || o.reservation_id || '","requestId":' || to_json(o.request_id) || ',"activityId":"' || o.activity_id || '","skuId":"' || o.sku_id
         || '","userId":"' || o.user_id || '","orderId":"' || o.order_id || '","reason":null,"returnsUnit":false,"clearsUserMark":false}')::jsonb,
       e.available_at, o.headers::jsonb
  FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::uuid[], $9::uuid[], $10::text[], $11::text[])
       AS o (reservation_id, version, request_id, activity_id, sku_id, user_id, order_id, created_id, timer_id, expire_at, headers)
 CROSS JOIN LATERAL (VALUES ($12::text, o.created_id, 'ORDER_CREATED', statement_timestamp()), ($13::text, o.timer_id, 'ORDER_CLOSE_DUE', o.expire_at::timestamptz))
       AS e (topic, event_id, type, available_at)
ON CONFLICT (dedup_key) DO NOTHING
